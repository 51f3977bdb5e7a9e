import { toHex } from 'viem'
import { partsOf } from '../../../protocol/src/node/revert.js'
import type { Request } from '../../../protocol/src/node/simulate.js'
import type { Call } from './deposit-calls.js'
import { type Outcome, type Watched, watchTransaction } from './deposit-outcome.js'
import { type DepositWallet, requestOf } from './wallet-transaction.js'

const VERSION = '2.0.0'
/** A wallet that has version 2 of EIP-5792 takes calls in one of these states as one transaction, or offers to. */
const ATOMIC: readonly unknown[] = ['supported', 'ready']
/**
 * With these codes a wallet says that it takes no batch, or not this one, and has sent nothing: JSON-RPC and EIP-1193 for a
 * method or a version that it does not know, EIP-5792 for the rest. 5750 is a user who keeps the account as it is, 5760 an
 * account that cannot send all calls as one.
 */
const NO_BATCH: readonly string[] = [-32601, -32602, -32004, 4200, 5700, 5710, 5740, 5750, 5760].map(String)
/** How long a wallet may take to say what it can do, without a question to its user. */
const CAPABILITIES_MS = 5_000

/**
 * Asks a wallet whether it sends calls with one prompt (EIP-5792).
 * @returns has it send the batch; undefined when it takes none. It returns the id of the batch; undefined when the wallet
 * does not take this one, and has sent nothing. It throws what the wallet throws
 */
export async function planBatch(
  wallet: DepositWallet,
  chainId: number,
  calls: readonly Call[],
): Promise<(() => Promise<string | undefined>) | undefined> {
  const from = wallet.account.address
  const request = requestOf(wallet)
  const id = toHex(chainId)
  // Each error says that there is no such method, or that it cannot be used: transactions still can.
  const asking = request({ method: 'wallet_getCapabilities', params: [from, [id]] }).catch(() => null)
  const answer = await Promise.race([asking, new Promise((resolve) => setTimeout(resolve, CAPABILITIES_MS))])
  const chains = Object.entries(Object(answer)) as [
    string,
    { readonly atomic?: { readonly status?: unknown } }?,
  ][]
  const [, capabilities] =
    chains.find(([key]) => Number(key) === chainId) ?? chains.find(([key]) => Number(key) === 0) ?? []
  const status = capabilities?.atomic?.status
  if (typeof status !== 'string') return undefined
  const sent = calls.map(({ to, data }) => ({ to, data, value: '0x0' }))
  const batch = { version: VERSION, from, chainId: id, atomicRequired: ATOMIC.includes(status), calls: sent }
  return async () => {
    try {
      const said = (await request({ method: 'wallet_sendCalls', params: [batch] })) as
        | string
        | { readonly id?: unknown }
      // Version 1 of EIP-5792 has the id alone.
      const batchId = typeof said === 'string' ? said : said.id
      if (typeof batchId === 'string' && batchId) return batchId
      throw new Error('The wallet has answered without the id of the batch.')
    } catch (error) {
      // A code inside is of its node, which a wallet asks when it sends.
      const { code } = partsOf(error).find(({ code }) => code !== undefined) ?? {}
      if (NO_BATCH.includes(`${code}`)) return undefined
      throw error
    }
  }
}

/**
 * Reads why a batch has no effect. The wallet's status is a hint: some report a failure, or nothing, of what is mined a
 * moment later. Only the node's receipt of the last transaction that the wallet names says REVERTED.
 * @throws what the wallet or the node throws
 */
export async function readBatch(request: Request, watched: Watched, id: string): Promise<Outcome> {
  const { status, receipts } = Object(await request({ method: 'wallet_getCallsStatus', params: [id] }))
  const hash = [receipts].flat().at(-1)?.transactionHash
  // Below 200 a batch goes on. Version 1 of EIP-5792 has words in its place.
  if (hash && !(status < 200) && (await watchTransaction(watched, hash)()) === 'REVERTED') return 'REVERTED'
  return status >= 400 ? 'UNCERTAIN' : undefined
}
