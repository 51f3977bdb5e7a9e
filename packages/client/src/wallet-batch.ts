import type { Address, Hex } from 'viem'
import type { Request } from '../../protocol/src/read-view.js'
import { partsOf } from '../../protocol/src/revert.js'
import type { Call } from './deposit.js'

const VERSION = '2.0.0'
/** A wallet that has version 2 of EIP-5792 takes calls in one of these states as one transaction, or offers to. */
const ATOMIC: readonly unknown[] = ['supported', 'ready']
/**
 * With these codes a wallet says that it takes no batch, or not this one, and has sent nothing: JSON-RPC and EIP-1193 for a method
 * or a version that it does not know, EIP-5792 for the rest. 5750 is a user who keeps the account as it is, 5760 an account that
 * cannot send all calls as one.
 */
const NO_BATCH: readonly unknown[] = [-32601, -32602, -32004, 4200, 5700, 5710, 5740, 5750, 5760]

/** Where a batch comes from, and what it does. */
interface Batch {
  readonly from: Address
  readonly chainId: Hex
  /** Whether the calls must be one transaction: the wallet takes them so. */
  readonly atomicRequired: boolean
  readonly calls: readonly Call[]
}

/**
 * Asks a wallet whether it sends calls with one prompt (EIP-5792), and how.
 * @param request of the wallet
 * @returns what `sendBatch` needs; undefined when the wallet takes no batch
 */
export async function planBatch(
  request: Request,
  { from, chainId, calls }: Omit<Batch, 'chainId' | 'atomicRequired'> & { readonly chainId: number },
): Promise<Batch | undefined> {
  const id: Hex = `0x${chainId.toString(16)}`
  // Each error says that there is no such method, or that it cannot be used: transactions still can.
  const answer = await request({ method: 'wallet_getCapabilities', params: [from, [id]] }).catch(() => null)
  if (typeof answer !== 'object' || answer === null) return undefined
  const { [id]: ofChain, '0x0': ofAll } = answer as Record<string, Capabilities | undefined>
  return { from, chainId: id, atomicRequired: ATOMIC.includes((ofChain ?? ofAll)?.atomic?.status), calls }
}

interface Capabilities {
  readonly atomic?: { readonly status?: unknown }
}

/**
 * Has a wallet send a batch.
 * @param request of the wallet, which must not repeat a request that has failed
 * @returns the id of the batch; undefined when the wallet does not take this one, and has sent nothing
 * @throws what the wallet throws
 */
export async function sendBatch(request: Request, { calls, ...batch }: Batch): Promise<string | undefined> {
  const sent = calls.map(({ to, data }) => ({ to, data, value: '0x0' }))
  const params = [{ version: VERSION, ...batch, calls: sent }]
  try {
    const { id } = (await request({ method: 'wallet_sendCalls', params })) as { readonly id: string }
    return id
  } catch (error) {
    if (partsOf(error).some(({ code }) => NO_BATCH.includes(code))) return undefined
    throw error
  }
}

/** How far a batch is; `failed` may have done a part of its calls where the wallet is not atomic. @throws what the wallet throws */
export async function readBatch(request: Request, id: string): Promise<'pending' | 'mined' | 'failed'> {
  const answer = await request({ method: 'wallet_getCallsStatus', params: [id] })
  const { status } = answer as { readonly status: number }
  if (status >= 200 && status < 300) return 'mined'
  return status >= 400 ? 'failed' : 'pending'
}
