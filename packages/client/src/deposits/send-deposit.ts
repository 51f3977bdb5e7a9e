import {
  type Account,
  ChainMismatchError,
  type Client,
  erc20Abi,
  type Hex,
  isAddressEqual,
  type Transport,
  toHex,
  type Chain as ViemChain,
} from 'viem'
import { getBlock, readContract, sendTransaction } from 'viem/actions'
import { readView } from '../../../protocol/src/node/read-view.js'
import { partsOf, revertOf } from '../../../protocol/src/node/revert.js'
import type { Request } from '../../../protocol/src/node/simulate.js'
import type { SignedQuote } from '../../../protocol/src/quotes/quote.js'
import { nonceUse, order } from '../../../protocol/src/settlement/settlement-of-chain.js'
import { linkSignal } from '../calls/abort.js'
import { check } from '../calls/check-arguments.js'
import { pause } from '../calls/retry-delay.js'
import { identifyOffer } from '../offers/offer-identity.js'
import { checkTake, limitProblems, type TakeOptions } from '../offers/offer-limits.js'
import { SPARE_SECONDS } from '../offers/offer-state.js'
import type { SettlementTerms } from '../offers/settlement-terms.js'
import { QuoteVerificationError } from '../offers/verify-quote.js'
import { type Call, depositCalls, depositTransfer } from './deposit-calls.js'
import { DepositError, type Outcome, untilThere, watchTransaction } from './deposit-outcome.js'
import { planBatch, readBatch } from './wallet-batch.js'
import { DECLINED, hasCode, hasWordsOfNo } from './wallet-refusal.js'

/** A viem client of the user's wallet, with its account. */
export type DepositWallet = Client<Transport, ViemChain | undefined, Account>

/** How far a deposit is. It can be stored as JSON. */
export interface DepositProgress {
  /** The approval of the input token, or the deposit itself: a call of the contract, a transfer, or a batch of all calls. */
  readonly step: 'approve' | 'deposit'
  /**
   * The wallet is asked, it has sent nothing, it has sent the transaction or the batch, or the chain has that. It stays `asked` when the
   * chain has the deposit before the wallet has answered, because the prompt may still be open.
   */
  readonly state: 'asked' | 'refused' | 'sent' | 'mined'
  /** The transaction that the wallet has sent. */
  readonly hash?: Hex | undefined
  /** The batch that the wallet has sent (EIP-5792). */
  readonly batchId?: string | undefined
}

export interface SendDepositOptions extends TakeOptions {
  /** What `onProgress` has told last of this offer, before the page was loaded again. A deposit that was asked for is not sent again. */
  readonly earlier?: DepositProgress | undefined
  /** Called at each step, before the next one begins. Store what it tells last. What it throws is ignored: abort `signal` to stop. */
  readonly onProgress?: ((progress: DepositProgress) => void) | undefined
  /** Ends the wait, not what the wallet has sent. A wallet that was not asked yet is not asked. */
  readonly signal?: AbortSignal | undefined
}

/** How much later than its deadline a deposit may be seen. */
const LATE_MS = 300_000
/** How long an account must have sent nothing before the words of its wallet are believed. */
const QUIET_MS = 30_000
/** The user has declined, the account is not the page's, or there is no such method (EIP-1193, JSON-RPC). */
const SENT_NOTHING: readonly string[] = [...DECLINED, '4100', '4200', '-32601', '-32602']

const underWay = new Map<Hex, Promise<void>>()

/**
 * Has the user's wallet deposit the input of an offer, and waits until the contract, or the deposit address, has it. Check the
 * offer with `verifyQuote` before.
 *
 * The calls, the order id and the deposit address come from the offer and from the contract that the app names, not from an instance.
 * A wallet with EIP-5792 gets approval and deposit as one batch, with one prompt. Another one gets one transaction after the other.
 * Before each of them, the function reads whether the deposit is there: then it sends nothing more. It reads that too while the wallet
 * is asked. While it runs, a second call for the same offer waits for the first.
 * @param settlement the result of `readSettlement` for the offer's chain; its client reads the chain
 * @throws TypeError before any call for options without limits, or of two modes; QuoteVerificationError for an offer that is beyond the
 *   limits, or for the other mode; DepositError when a deposit that was asked for is not there, or its time is over; what the wallet
 *   throws when it has sent nothing; ChainReadError and viem's errors of the node; the reason of the signal
 */
export async function sendDeposit(
  wallet: DepositWallet,
  offer: SignedQuote,
  settlement: SettlementTerms,
  options: SendDepositOptions,
): Promise<void> {
  checkTake(options)
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
  const { earlier, onProgress } = options
  const mode = checkTake(options)
  const { client, chainId } = settlement
  const { account } = wallet
  const { quote, orderId, depositAddress } = offer
  const isContract = mode === 'CONTRACT'
  const wait = {
    until: quote.depositDeadline * 1000 + LATE_MS,
    pollMs: client.pollingInterval,
    signal: options.signal ?? new AbortController().signal,
  }
  const { signal } = wait
  // What a wallet was asked once must not be asked again.
  const request: Request = (args) => wallet.request(args, { retryCount: 0 })

  /** An app's own trouble must not change what is said of the deposit. */
  const tell = (progress: DepositProgress) => void (async () => onProgress?.(progress))().catch(() => {})

  const tokensAtAddress = () =>
    readContract(client, {
      address: quote.inputToken,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [depositAddress],
    })

  /** Seconds until the deposit deadline, by the chain's time and the clock. */
  let secondsLeft = 0

  /** Whether the deposit is there, or cannot come any more. Tokens that came too late may be lost: only an order says that they are not. */
  async function look(): Promise<'there' | Outcome> {
    // Before the time is read: what is seen here came no later.
    const tokens = isContract ? 0n : await tokensAtAddress()
    const { number, timestamp } = await getBlock(client)
    const time = Number(timestamp)
    secondsLeft = quote.depositDeadline - Math.max(time, Date.now() / 1000)
    const isOver = time > quote.depositDeadline
    // After the deadline, a node that lags must not say that there is nothing.
    const at = isOver ? toHex(number) : undefined
    const { state } = await readView(client.request, settlement.settlement, order(chainId, orderId), at)
    if (state !== 'NONE') return 'there'
    if (isContract) return isOver ? 'EXPIRED' : undefined
    if (tokens < quote.inputAmount) return undefined
    return secondsLeft < 0 ? 'UNCERTAIN' : 'there'
  }

  const callsNow = () =>
    isContract ? depositCalls(offer, settlement) : Promise.resolve([depositTransfer(offer)])

  /** Whether the wallet must be asked. @throws DepositError when it must not be asked any more */
  async function isNeeded(): Promise<boolean> {
    const found = await look()
    if (found === 'there') return false
    if (found !== undefined) throw new DepositError(found)
    if (isContract && secondsLeft >= 0) return true
    if (isContract) throw new DepositError('EXPIRED')
    const use = nonceUse(quote.solver, quote.nonce)
    const isTooLate = secondsLeft < SPARE_SECONDS.ADDRESS
    if (isTooLate || (await readView(client.request, settlement.settlement, use)))
      throw new DepositError('TOO_LATE_FOR_TRANSFER')
    return true
  }

  /** How a step is seen on the chain. @param callsBefore how many calls were needed before an approval: after it, there are fewer */
  const lookFor = (step: DepositProgress['step'], callsBefore: number) =>
    step === 'deposit' ? look : async () => ((await callsNow()).length < callsBefore ? 'there' : look())

  /** Waits for what the wallet was asked for. @throws DepositError */
  async function follow(progress: DepositProgress, callsBefore = Number.POSITIVE_INFINITY): Promise<void> {
    const { step, state, hash, batchId } = progress
    const transaction = watchTransaction(
      client,
      hash as Hex,
      step === 'deposit' ? undefined : 'APPROVAL_TOO_LOW',
    )
    const readSent = batchId === undefined ? transaction : () => readBatch(request, client, batchId)
    const readOutcome = state === 'asked' ? undefined : readSent
    await untilThere({ ...wait, look: lookFor(step, callsBefore), readOutcome }).catch((error: unknown) => {
      // The approval itself is mined: it is not waited for again.
      if (error instanceof DepositError && error.reason === 'APPROVAL_TOO_LOW')
        tell({ ...progress, state: 'mined' })
      throw error
    })
    tell({ ...progress, state: 'mined' })
  }

  /** What changes when the account sends something; undefined for an account with code, for which others may send. */
  async function readAccount(): Promise<string | undefined> {
    const ask: Request = client.request
    const code = await ask({ method: 'eth_getCode', params: [account.address, 'latest'] })
    const count = await ask({ method: 'eth_getTransactionCount', params: [account.address, 'pending'] })
    return code === '0x' && (await tokensAtAddress()) === 0n ? `${count}` : undefined
  }

  /**
   * Whether a wallet has sent nothing. Some answer with an error after they have sent. The words of a wallet count for a call that the
   * contract takes once only. For a transfer, they count when the account has sent nothing for a while.
   * @param before what `readAccount` said before the wallet was asked
   */
  async function hasSentNothing(error: unknown, before: string | undefined): Promise<boolean> {
    const isOtherChain = partsOf(error).some(({ name }) => name === 'ChainMismatchError')
    if (isOtherChain || hasCode(error, SENT_NOTHING)) return true
    if (isContract) return hasWordsOfNo(error) || revertOf(error) !== undefined
    if (before === undefined || !hasWordsOfNo(error)) return false
    for (const end = Date.now() + QUIET_MS; ; await pause(wait.pollMs, signal)) {
      if ((await readAccount().catch(() => undefined)) !== before) return false
      if (Date.now() >= end) return true
    }
  }

  /**
   * Asks the wallet, and looks at the chain meanwhile: some wallets send, and never answer.
   * @returns the wallet's answer; undefined when the chain has the effect before: then no read is needed, which could fail
   * @throws what the wallet throws when it has sent nothing; DepositError; the reason of the signal
   */
  async function ask<T>(step: DepositProgress['step'], callsBefore: number, send: () => Promise<T>) {
    const before = isContract ? undefined : await readAccount().catch(() => undefined)
    signal.throwIfAborted()
    tell({ step, state: 'asked' })
    const ending = new AbortController()
    const unlink = linkSignal(signal, ending)
    const readOutcome = async () => undefined
    const onChain = untilThere({
      ...wait,
      look: lookFor(step, callsBefore),
      readOutcome,
      signal: ending.signal,
    })
    const answered = async () => {
      try {
        // The app may have stopped at the last moment.
        if (!signal.aborted) return { answer: await send() }
      } catch (error) {
        if (!(await hasSentNothing(error, before))) throw new DepositError('UNCERTAIN', error)
        if (!ending.signal.aborted) tell({ step, state: 'refused' })
        throw error
      }
      tell({ step, state: 'refused' })
      throw signal.reason
    }
    try {
      return (await Promise.race([answered(), onChain])) ?? undefined
    } finally {
      unlink()
      ending.abort()
    }
  }

  /** Sends one transaction. viem would ask a wallet a second time, by another method, after some errors. */
  async function send({ to, data }: Call): Promise<Hex> {
    const chain = chainOf(chainId)
    if (account.type !== 'json-rpc') return sendTransaction(wallet, { to, data, account, chain })
    const currentChainId = Number(await request({ method: 'eth_chainId' }))
    if (currentChainId !== chainId) throw new ChainMismatchError({ chain, currentChainId })
    const transaction = { from: account.address, to, data, value: '0x0', chainId: toHex(chainId) }
    return (await request({ method: 'eth_sendTransaction', params: [transaction] })) as Hex
  }

  // The contract takes a deposit from its user only.
  const isOther = isContract && !isAddressEqual(account.address, quote.user)
  check({ wallet: isOther ? `must have the account of the offer, ${quote.user}` : undefined })
  if (earlier?.step === 'deposit' && earlier.state !== 'refused') return follow(earlier)
  const problems = limitProblems(quote, options, mode, chainId)
  if (problems.length > 0) throw new QuoteVerificationError(problems)
  if (!(await isNeeded())) return
  let calls = await callsNow()
  if (earlier?.state === 'sent' && calls.length > 1) {
    // One that has failed is given again.
    await follow(earlier, calls.length).catch(() => {})
    calls = await callsNow()
  }
  const isBatch = calls.length > 1 && account.type === 'json-rpc'
  const sendBatch = isBatch && (await planBatch(request, { from: account.address, chainId, calls }))
  const asked = sendBatch ? await ask('deposit', calls.length, sendBatch) : { answer: undefined }
  if (asked === undefined) return
  const batchId = asked.answer
  if (batchId !== undefined) {
    const sent = { step: 'deposit', state: 'sent', batchId } as const
    tell(sent)
    return follow(sent)
  }
  for (; await isNeeded(); calls = await callsNow()) {
    const [call] = calls as [Call]
    const { length } = calls
    const step = length === 1 ? 'deposit' : 'approve'
    const answered = await ask(step, length, () => send(call))
    if (answered !== undefined) {
      const sent = { step, state: 'sent', hash: answered.answer } as const
      tell(sent)
      await follow(sent, length)
    }
    if (step === 'deposit') return
  }
}

/** With a chain, viem compares it to that of the wallet. */
function chainOf(id: number): ViemChain {
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 }
  return { id, name: `chain ${id}`, nativeCurrency, rpcUrls: { default: { http: [] } } }
}
