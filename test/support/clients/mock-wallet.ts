import { type Address, createWalletClient, custom, type Hex } from 'viem'

/** A request that a wallet gets. */
export interface WalletRequest {
  readonly method: string
  readonly params: readonly unknown[]
}

/** The parameters of `wallet_sendCalls` (EIP-5792). */
export interface SentBatch {
  readonly version: string
  readonly from: Address
  readonly chainId: Hex
  readonly atomicRequired: boolean
  readonly calls: readonly { readonly to: Address; readonly data: Hex; readonly value: Hex }[]
}

export interface MockWalletOptions {
  /** Answers requests that are no prompt; it signs for the account. */
  readonly node: (request: WalletRequest) => Promise<unknown>
  readonly account: Address
  /** What it says of batches (EIP-5792): the state of `atomic`, or the code of the error for `wallet_sendCalls`; undefined without. */
  readonly batches?: 'supported' | 'ready' | 'unsupported' | number
  /** Where it says so: of the chain, or of all chains. */
  readonly scope?: string
  /** Called before each prompt is answered; what it throws is the answer. */
  readonly onPrompt?: (request: WalletRequest) => void | Promise<void>
  /** Called after each prompt was carried out; what it throws is lost on the way to the page. */
  readonly onCarriedOut?: (request: WalletRequest) => void | Promise<void>
  /** Changes what the page is answered. @param own gives the wallet's own answer */
  readonly answer?: (request: WalletRequest, own: () => Promise<unknown>) => unknown
}

const fail = (code: number) => Object.assign(new Error(`the wallet says ${code}`), { code })

/** A user's wallet as a page sees it (EIP-1193). `prompts` has what its user was asked, in order. */
export function createMockWallet(options: MockWalletOptions) {
  const { node, account, batches, onPrompt, onCarriedOut, answer = (_asked, own) => own() } = options
  const prompts: WalletRequest[] = []
  const hashes = new Map<string, Hex[]>()

  async function sendBatch({ calls }: SentBatch) {
    const sent: Hex[] = []
    for (const call of calls) {
      // The node cannot estimate a call that needs one before it, while that is not mined.
      const params = [{ from: account, gas: '0x7a120', ...call }]
      sent.push((await node({ method: 'eth_sendTransaction', params })) as Hex)
    }
    const id = `batch ${hashes.size}`
    hashes.set(id, sent)
    return { id }
  }

  async function statusOf(id: string) {
    const sent = hashes.get(id)
    if (sent === undefined) throw fail(5730)
    const receipts = await Promise.all(
      sent.map((hash) => node({ method: 'eth_getTransactionReceipt', params: [hash] })),
    )
    const statuses = receipts.map((receipt) => (receipt as { status: Hex } | null)?.status)
    if (statuses.includes(undefined)) return { status: 100 }
    return { status: statuses.includes('0x0') ? 600 : 200, receipts }
  }

  async function prompt(request: WalletRequest, send: () => Promise<unknown>): Promise<unknown> {
    prompts.push(request)
    await onPrompt?.(request)
    const sent = await send()
    await onCarriedOut?.(request)
    return sent
  }

  const request = async ({ method = '', params = [] }: Partial<WalletRequest>): Promise<unknown> =>
    answer({ method, params }, () => carryOut({ method, params }))

  async function carryOut(asked: WalletRequest): Promise<unknown> {
    const { method, params } = asked
    switch (method) {
      case 'wallet_getCapabilities':
        if (batches === undefined) throw fail(-32601)
        return {
          [options.scope ?? '0x7a69']: {
            atomic: { status: typeof batches === 'number' ? 'ready' : batches },
          },
        }
      case 'wallet_sendCalls':
        if (batches === undefined) throw fail(-32601)
        return prompt(asked, async () => {
          if (typeof batches === 'number') throw fail(batches)
          return sendBatch(params[0] as SentBatch)
        })
      case 'wallet_getCallsStatus':
        return statusOf(params[0] as string)
      case 'eth_sendTransaction':
      case 'wallet_sendTransaction':
        return prompt(asked, () => node(asked))
      default:
        return node(asked)
    }
  }

  return { client: createWalletClient({ account, transport: custom({ request }) }), request, prompts }
}
