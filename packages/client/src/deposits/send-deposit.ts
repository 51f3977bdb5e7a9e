import {
  type Account,
  type Client,
  erc20Abi,
  type Hex,
  isAddressEqual,
  type Transport,
  type Chain as ViemChain,
} from 'viem'
import { getBlock, readContract, sendTransaction } from 'viem/actions'
import { isNodeAnswer } from '../../../protocol/src/node/node-answer.js'
import { readView } from '../../../protocol/src/node/read-view.js'
import { partsOf } from '../../../protocol/src/node/revert.js'
import type { Request } from '../../../protocol/src/node/simulate.js'
import type { DepositMode, SignedQuote } from '../../../protocol/src/quotes/quote.js'
import { order } from '../../../protocol/src/settlement/settlement-of-chain.js'
import { check } from '../calls/check-arguments.js'
import { identifyOffer } from '../offers/offer-identity.js'
import type { SettlementTerms } from '../offers/settlement-terms.js'
import { depositCalls, depositTransfer } from './deposit-calls.js'
import { DepositError, untilThere, watchTransaction } from './deposit-outcome.js'
import { hasCode, planBatch, readBatch } from './wallet-batch.js'

/** A viem client of the user's wallet, with its account. */
export type DepositWallet = Client<Transport, ViemChain | undefined, Account>

/** How far a deposit is. It can be stored as JSON. */
export interface DepositProgress {
  /** The approval of the input token, or the deposit itself: a call of the contract, a transfer, or a batch of all calls. */
  readonly step: 'approve' | 'deposit'
  /** The wallet is asked, it has sent nothing, it has sent the transaction or the batch, or the chain has that. */
  readonly state: 'asked' | 'refused' | 'sent' | 'mined'
  /** The transaction that the wallet has sent. */
  readonly hash?: Hex | undefined
  /** The batch that the wallet has sent (EIP-5792). */
  readonly batchId?: string | undefined
}

export interface SendDepositOptions {
  /** CONTRACT when left out. */
  readonly depositMode?: DepositMode
  /** What `onProgress` has told last of this offer, before the page was loaded again. A deposit that was asked for is not sent again. */
  readonly earlier?: DepositProgress | undefined
  /** Called at each step, before the next one begins. Store what it tells last. */
  readonly onProgress?: (progress: DepositProgress) => void
  /** Ends the wait, not what the wallet has sent. */
  readonly signal?: AbortSignal | undefined
}

/** How much later than its deadline a deposit may be seen. */
const LATE_MS = 300_000
/** The user has refused, the account is not the page's, or there is no such method (EIP-1193, JSON-RPC). */
const REFUSALS: readonly unknown[] = [4001, 4100, 4200, -32601, -32602]

type Sent = Omit<DepositProgress, 'state'>

const underWay = new Map<Hex, Promise<void>>()

/**
 * Has the user's wallet deposit the input of an offer, and waits until the contract, or the deposit address, has it. Check the
 * offer with `verifyQuote` before.
 *
 * The calls, the order id and the deposit address come from the offer and from the contract that the app names, not from an instance.
 * A wallet with EIP-5792 gets approval and deposit as one batch, with one prompt. Another one gets one transaction after the other.
 * Before each of them, the function reads whether the deposit is there: then it sends nothing more. While it runs, a second call for
 * the same offer waits for the first.
 * @param settlement the result of `readSettlement` for the offer's chain; its client reads the chain
 * @throws DepositError when a deposit that was asked for is not there, or its time is over; what the wallet throws when it has sent
 *   nothing; ChainReadError and viem's errors of the node; the reason of the signal
 */
export async function sendDeposit(
  wallet: DepositWallet,
  offer: SignedQuote,
  settlement: SettlementTerms,
  options: SendDepositOptions = {},
): Promise<void> {
  const own = { ...offer, ...identifyOffer(offer.quote, offer.signature, settlement) }
  const known = underWay.get(own.orderId)
  if (known !== undefined) return known
  const sending = deposit(wallet, own, settlement, options).finally(() => underWay.delete(own.orderId))
  underWay.set(own.orderId, sending)
  return sending
}

async function deposit(
  wallet: DepositWallet,
  offer: SignedQuote,
  settlement: SettlementTerms,
  options: SendDepositOptions,
): Promise<void> {
  const { depositMode = 'CONTRACT', earlier, onProgress = () => {}, signal } = options
  const { client, chainId } = settlement
  const { account } = wallet
  const { quote, orderId, depositAddress } = offer
  const isContract = depositMode === 'CONTRACT'
  // What a wallet was asked once must not be asked again.
  const request: Request = (args) => wallet.request(args, { retryCount: 0 })

  async function isThere(): Promise<boolean> {
    const { state } = await readView(client.request, settlement.settlement, order(chainId, orderId))
    if (isContract || state !== 'NONE') return state !== 'NONE'
    const args = [depositAddress] as const
    const call = { address: quote.inputToken, abi: erc20Abi, functionName: 'balanceOf', args } as const
    return (await readContract(client, call)) >= quote.inputAmount
  }

  const callsNow = () =>
    isContract ? depositCalls(offer, settlement) : Promise.resolve([depositTransfer(offer)])

  const isLate = async () => (await getBlock(client)).timestamp > BigInt(quote.depositDeadline)

  /** Whether the wallet must be asked. @throws DepositError EXPIRED */
  async function isNeeded(): Promise<boolean> {
    if (await isThere()) return false
    if (Date.now() >= quote.depositDeadline * 1000 || (await isLate())) throw new DepositError('EXPIRED')
    return true
  }

  const aborted = new Promise<never>((_, reject) => signal?.addEventListener('abort', reject))
  // Nobody waits for the wallet at times.
  aborted.catch(() => {})

  /** @throws what the wallet throws; DepositError UNCERTAIN when its answer is lost; the reason of the signal */
  async function ask<T>(step: DepositProgress['step'], send: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted()
    onProgress({ step, state: 'asked' })
    try {
      return await Promise.race([send(), aborted])
    } catch (error) {
      signal?.throwIfAborted()
      if (!hasSentNothing(error, isContract)) throw new DepositError('UNCERTAIN', error)
      onProgress({ step, state: 'refused' })
      throw error
    }
  }

  /**
   * Waits for what the wallet was asked for.
   * @param callsBefore how many calls were needed before an approval: after it, there are fewer
   * @throws DepositError
   */
  async function follow(
    { step, hash, batchId }: Sent,
    callsBefore = Number.POSITIVE_INFINITY,
  ): Promise<void> {
    const isDeposit = step === 'deposit'
    await untilThere({
      isThere: isDeposit ? isThere : async () => (await callsNow()).length < callsBefore,
      // A transfer may come at any time.
      isTooLate: async () => isDeposit && isContract && isLate(),
      readOutcome:
        batchId === undefined ? hash && watchTransaction(client, hash) : () => readBatch(request, batchId),
      until: quote.depositDeadline * 1000 + LATE_MS,
      pollMs: client.pollingInterval,
      signal,
    })
    onProgress({ step, state: 'mined', hash, batchId })
  }

  // The contract takes a deposit from its user only.
  const isOther = isContract && !isAddressEqual(account.address, quote.user)
  check({ wallet: isOther ? `must have the account of the offer, ${quote.user}` : undefined })
  if (earlier?.step === 'deposit' && earlier.state !== 'refused') return follow(earlier)
  if (!(await isNeeded())) return
  let calls = await callsNow()
  if (earlier?.hash !== undefined && calls.length > 1) {
    // One that has failed is given again.
    await follow(earlier, calls.length).catch(() => {})
    calls = await callsNow()
  }
  const isBatch = calls.length > 1 && account.type === 'json-rpc'
  const sendBatch = isBatch && (await planBatch(request, { from: account.address, chainId, calls }))
  if (sendBatch) {
    const batchId = await ask('deposit', sendBatch)
    if (batchId !== undefined) {
      onProgress({ step: 'deposit', state: 'sent', batchId })
      return follow({ step: 'deposit', batchId })
    }
  }
  for (; await isNeeded(); calls = await callsNow()) {
    const [call] = calls
    const step = calls.length === 1 ? 'deposit' : 'approve'
    const hash = await ask(step, () => sendTransaction(wallet, { ...call, account, chain: chainOf(chainId) }))
    onProgress({ step, state: 'sent', hash })
    await follow({ step, hash }, calls.length)
    if (step === 'deposit') return
  }
}

/**
 * Whether a wallet, or viem in front of it, has sent nothing. An error that a wallet answers says so (EIP-1193), but some answer with
 * one of their node after they have sent. The contract refuses a second deposit; for a transfer, only a refusal is certain.
 */
function hasSentNothing(error: unknown, isContract: boolean): boolean {
  const isOtherChain = partsOf(error).some(({ name }) => name === 'ChainMismatchError')
  return isOtherChain || hasCode(error, REFUSALS) || (isContract && isNodeAnswer(error))
}

/** With a chain, viem compares it to that of the wallet, and the wallet gets its id with the transaction. */
function chainOf(id: number): ViemChain {
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 }
  return { id, name: `chain ${id}`, nativeCurrency, rpcUrls: { default: { http: [] } } }
}
