import {
  type Account,
  type Address,
  type Client,
  defineChain,
  erc20Abi,
  type Hex,
  isAddressEqual,
  type Transport,
  type Chain as ViemChain,
} from 'viem'
import { getBlock, readContract, sendTransaction } from 'viem/actions'
import type { DepositMode, SignedQuote } from '../../../src/domain/quotes/quote.js'
import { isNodeAnswer } from '../../protocol/src/node-answer.js'
import { type Request, readView } from '../../protocol/src/read-view.js'
import { partsOf } from '../../protocol/src/revert.js'
import { order } from '../../protocol/src/settlement-of-chain.js'
import { check } from './arguments.js'
import { depositCalls, depositTransfer } from './deposit.js'
import { DepositError, untilThere, watchTransaction } from './deposit-outcome.js'
import { identifyOffer } from './offer-identity.js'
import type { SettlementTerms } from './settlement.js'
import { planBatch, readBatch, sendBatch } from './wallet-batch.js'

/** A viem client of the user's wallet, with its account. */
export type DepositWallet = Client<Transport, ViemChain | undefined, Account>

/** How far a deposit is. It can be stored as JSON. */
export interface DepositProgress {
  /** The approval of the input token, or the deposit itself: a call of the contract, a transfer, or a batch of all calls. */
  readonly step: 'approve' | 'deposit'
  /** The wallet is asked, it has sent nothing, it has sent the transaction or the batch, or the chain has that. */
  readonly state: 'asked' | 'refused' | 'sent' | 'mined'
  /** The transaction that the wallet has sent. */
  readonly hash?: Hex
  /** The batch that the wallet has sent (EIP-5792). */
  readonly batchId?: string
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
/** Errors of viem before it asks the wallet, or a node for the account in the app. */
const BEFORE_SENDING: readonly unknown[] = ['ChainMismatchError', 'EstimateGasExecutionError']

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
export function sendDeposit(
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

  /** A transfer may come at any time. */
  async function isTooLate(): Promise<boolean> {
    return isContract && (await getBlock(client)).timestamp > BigInt(quote.depositDeadline)
  }

  /** Whether the wallet must be asked. @throws DepositError EXPIRED */
  async function isNeeded(): Promise<boolean> {
    signal?.throwIfAborted()
    if (await isThere()) return false
    if (Date.now() >= quote.depositDeadline * 1000) throw new DepositError('EXPIRED')
    return true
  }

  /** @throws what the wallet throws; DepositError UNCERTAIN when its answer is lost */
  async function ask<T>(step: DepositProgress['step'], send: () => Promise<T>): Promise<T> {
    onProgress({ step, state: 'asked' })
    try {
      return await send()
    } catch (error) {
      if (!hasSentNothing(error)) throw new DepositError('UNCERTAIN', error)
      onProgress({ step, state: 'refused' })
      throw error
    }
  }

  /** Waits for what the wallet was asked for. @throws DepositError */
  async function follow({ step, hash, batchId }: Omit<DepositProgress, 'state'>): Promise<void> {
    const sent = { step, ...(hash && { hash }), ...(batchId !== undefined && { batchId }) }
    const readTransaction = hash && watchTransaction(client, hash)
    await untilThere({
      ...(step === 'deposit' && { isThere, isTooLate }),
      readOutcome: batchId === undefined ? readTransaction : () => readBatch(request, batchId),
      until: quote.depositDeadline * 1000 + LATE_MS,
      pollMs: client.pollingInterval,
      signal,
    })
    onProgress({ ...sent, state: 'mined' })
  }

  async function report(sent: Omit<DepositProgress, 'state'>): Promise<void> {
    onProgress({ ...sent, state: 'sent' })
    await follow(sent)
  }

  if (isContract) check({ wallet: isSameAccount(account.address, quote.user) })
  if (earlier?.step === 'deposit' && earlier.state !== 'refused') return follow(earlier)
  if (earlier?.hash !== undefined) await follow(earlier)
  if (!(await isNeeded())) return
  const calls = isContract ? await depositCalls(offer, settlement) : [depositTransfer(offer)]
  const isBatch = calls.length > 1 && account.type === 'json-rpc'
  const batch = isBatch && (await planBatch(request, { from: account.address, chainId, calls }))
  if (batch) {
    const batchId = await ask('deposit', () => sendBatch(request, batch))
    if (batchId !== undefined) return report({ step: 'deposit', batchId })
  }
  const chain = chainOf(chainId)
  for (const [index, call] of calls.entries()) {
    if (!(await isNeeded())) return
    const step = index === calls.length - 1 ? 'deposit' : 'approve'
    const hash = await ask(step, () => sendTransaction(wallet, { ...call, account, chain }))
    await report({ step, hash })
  }
}

/** The contract takes a deposit from its user only. */
function isSameAccount(account: Address, user: Address): string | undefined {
  return isAddressEqual(account, user) ? undefined : `must have the account of the offer, ${user}`
}

/** Whether a wallet, or viem in front of it, has refused to send. An answer of a wallet that is an error says so (EIP-1193). */
function hasSentNothing(error: unknown): boolean {
  return isNodeAnswer(error) || partsOf(error).some(({ name }) => BEFORE_SENDING.includes(name))
}

/** With a chain, viem compares it to that of the wallet, and the wallet gets its id with the transaction. */
function chainOf(id: number): ViemChain {
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 }
  return defineChain({ id, name: `chain ${id}`, nativeCurrency, rpcUrls: { default: { http: [] } } })
}
