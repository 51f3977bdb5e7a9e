import { isAddressEqual } from 'viem'
import type { SignedQuote } from '../../../protocol/src/quotes/quote.js'
import { linkSignal, untilAborted } from '../calls/abort.js'
import { check } from '../calls/check-arguments.js'
import { pause } from '../calls/retry-delay.js'
import { identifyOffer } from '../offers/offer-identity.js'
import { checkTake, type TakeOptions, takeProblems } from '../offers/offer-limits.js'
import type { SettlementTerms } from '../offers/settlement-terms.js'
import { QuoteVerificationError } from '../offers/verify-quote.js'
import { type Call, depositCall, depositCalls } from './deposit-calls.js'
import { depositOnChain } from './deposit-on-chain.js'
import {
  DepositError,
  type Found,
  type NodeTransaction,
  untilThere,
  watchTransaction,
} from './deposit-outcome.js'
import { checkEarlier, type DepositProgress, isDepositBegun } from './deposit-progress.js'
import { planBatch, readBatch } from './wallet-batch.js'
import { quietMsOf } from './wallet-refusal.js'
import {
  checkNetwork,
  type DepositWallet,
  type Prompt,
  planTransaction,
  requestOf,
} from './wallet-transaction.js'

export interface SendDepositOptions extends TakeOptions {
  /** What `onProgress` has told last of this offer, before the page was loaded again. A deposit that was asked for is not sent again. */
  readonly earlier?: DepositProgress | null | undefined
  /** Called at each step, before the next one begins. Store what it tells last. What it throws is ignored: abort `signal` to stop. */
  readonly onProgress?: ((progress: DepositProgress) => void) | undefined
  /** Ends the wait, not what the wallet has sent. A wallet that was not asked yet is not asked. */
  readonly signal?: AbortSignal | undefined
}

/** How much later than its deadline a deposit may be seen. */
const LATE_MS = 300_000

/** A call that is under way, the signal that may end it, and what it has told last. */
interface Running {
  readonly sending: Promise<void>
  readonly signal: AbortSignal | undefined
  told: DepositProgress | undefined
}
const underWay = new Map<string, Running>()

/**
 * Has the user's wallet deposit the input of an offer, and waits until the contract, or the deposit address, has it. Check the
 * offer with `verifyQuote` before.
 *
 * The calls, the order id and the deposit address come from the offer and from the contract that the app names, not from an instance.
 * A wallet with EIP-5792 gets approval and deposit as one batch, with one prompt. Another one gets one transaction after the other.
 * Before each of them, the function reads whether the deposit is there: then it sends nothing more. It reads that too while the wallet
 * is asked. While it runs, a second call for the same offer waits for the first.
 * @param settlement the result of `readSettlement` for the offer's chain; its client reads the chain
 * @throws TypeError before any call for options without limits, of two modes, or with something else as `earlier`; QuoteVerificationError for an offer that is beyond the
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
  checkEarlier(options.earlier)
  // A store of the app may change the offer in place.
  const quote = { ...offer.quote }
  const own = { ...offer, quote, ...identifyOffer(quote, offer.signature, settlement) }
  const { signal } = options
  const first = underWay.get(own.orderId)
  if (first !== undefined) {
    try {
      return await untilAborted(first.sending, signal)
    } catch (error) {
      if (!first.signal?.aborted || signal?.aborted) throw error
      // The signal of the first call ends that call only: this one goes on from there.
      return sendDeposit(wallet, own, settlement, { ...options, earlier: first.told ?? options.earlier })
    }
  }
  const onProgress = (progress: DepositProgress) => {
    running.told = progress
    return options.onProgress?.(progress)
  }
  // A read may never end: the signal ends the wait for it.
  const sending = untilAborted(deposit(wallet, own, settlement, { ...options, onProgress }), signal)
  const running: Running = { sending, signal, told: undefined }
  underWay.set(own.orderId, running)
  return sending.finally(() => underWay.delete(own.orderId))
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
  const { quote } = offer
  const isContract = mode === 'CONTRACT'
  const wasThere = earlier?.step === 'deposit' && earlier.state === 'mined'
  const onChain = depositOnChain(offer, settlement, mode, wasThere)
  const { look, isNeeded, confirmBy, hasTokens, hasBalance, readAccount } = onChain
  const call = depositCall(offer, settlement, mode)
  const { signal = new AbortController().signal } = options
  const until = quote.depositDeadline * 1000 + LATE_MS
  const wait = { until, pollMs: client.pollingInterval, signal }
  const request = requestOf(wallet)
  const readCalls = async () => (isContract ? depositCalls(offer, settlement) : [call])
  /** An app's own trouble must not change what is said of the deposit. */
  const tell = (progress: DepositProgress) => void (async () => onProgress?.(progress))().catch(() => {})

  /** The calls that are left. After an approval is seen, they are not read again: another node may not have it yet. */
  let calls: readonly Call[] = [call]
  /** What `readAccount` said before the wallet was asked; undefined where it could not be read, and nothing is known of a no. A batch that a wallet says not to take may have been sent. */
  let before: Awaited<ReturnType<typeof readAccount>> | undefined

  // The deposit of an account that is not the wallet's any more can be followed too.
  if (earlier && isDepositBegun(earlier)) return follow(earlier)
  // The contract takes a deposit from its user only.
  const isOther = isContract && !isAddressEqual(account.address, quote.user)
  check({ wallet: isOther ? `must have the account of the offer, ${quote.user}` : undefined })
  const problems = takeProblems(quote, options, mode, chainId)
  if (problems.length > 0) throw new QuoteVerificationError(problems)
  if (!(await isNeeded())) return
  calls = await readCalls()
  if (earlier?.state === 'sent' && calls.length > 1)
    // One that has failed is given again.
    await follow(earlier).catch(() => {})
  if (!(await askForBatch())) await askForTransactions()

  /** Asks for approval and deposit with one prompt, where the wallet takes that. @returns whether the deposit is there */
  async function askForBatch() {
    const isBatch = calls.length > 1 && account.type === 'json-rpc'
    const send = isBatch && (await planBatch(wallet, chainId, calls))
    if (!send) return false
    const asked = await ask('deposit', { send })
    const batchId = asked?.answer
    if (batchId !== undefined) await followSent({ step: 'deposit', state: 'sent', batchId })
    if (asked === undefined || batchId !== undefined) return true
    // The wallet has not taken it, it says.
    if (!(await isQuiet().catch(() => false))) throw new DepositError('UNCERTAIN')
    tell({ step: 'deposit', state: 'refused' })
    return false
  }

  /** Asks for one transaction after the other, and follows each. */
  async function askForTransactions() {
    // An approval would cost gas for nothing. A wallet that takes batches may have tokens that the chain does not show (ERC-7682).
    if (!(await hasBalance(account.address)) && (await isNeeded()))
      throw new DepositError('INSUFFICIENT_BALANCE')
    while (await isNeeded()) {
      const { length, 0: next = call } = calls
      const step = length === 1 ? 'deposit' : 'approve'
      const prompt = await planTransaction(wallet, { ...next, chainId, signal })
      try {
        const answered = await ask(step, prompt, () => checkNetwork(request, chainId))
        if (answered !== undefined) await followSent({ step, state: 'sent', hash: answered.answer })
      } catch (error) {
        const isOpen = error instanceof DepositError && error.reason === 'UNCERTAIN'
        // An approval moves no tokens.
        throw isOpen && step === 'approve' ? new DepositError('APPROVAL_UNCERTAIN', error.cause) : error
      }
      if (step === 'deposit') return
      before = undefined
    }
  }

  /**
   * Asks the wallet, if the deposit is still needed, and looks at the chain meanwhile: some wallets send, and never answer.
   * @returns the wallet's answer; undefined when the chain has the effect before: then no read is needed, which could fail
   * @throws what the wallet throws when it has sent nothing; DepositError; the reason of the signal
   */
  async function ask<T>(
    step: DepositProgress['step'],
    { send, hash }: Prompt<T>,
    checkLast?: () => Promise<void>,
  ) {
    // The contract refuses a second deposit. An address takes it.
    const read = () => readAccount(account.address)
    before ??= await read()
      .catch(read)
      .catch((error) => (isContract ? undefined : Promise.reject(error)))
    // Last: between the look and the question, nothing takes time.
    if (!(await isNeeded(checkLast))) return undefined
    signal.throwIfAborted()
    const progress: DepositProgress = {
      step,
      state: 'asked',
      ...(hash ? { hash } : !isContract && { confirmBy: confirmBy() }),
    }
    tell(progress)
    const ending = new AbortController()
    const unlink = linkSignal(signal, ending)
    const lookNow = lookFor(progress)
    const answered = async () => {
      try {
        // The app may have stopped at the last moment.
        if (!signal.aborted) return { answer: await send() }
      } catch (error) {
        // What cannot be read is no no.
        const judged = await judgeError(error, lookNow).catch(() => undefined)
        if (judged === 'there') return undefined
        if (judged === undefined) throw new DepositError('UNCERTAIN', error)
        if (!ending.signal.aborted) tell({ step, state: 'refused' })
        throw error
      }
      tell({ step, state: 'refused' })
      throw signal.reason
    }
    const asked = answered()
    const seen = untilThere({
      ...wait,
      look: lookNow,
      readOutcome: async () => undefined,
      signal: ending.signal,
    })
    try {
      return (await Promise.race([asked, seen])) ?? undefined
    } finally {
      unlink()
      ending.abort()
    }
  }

  /**
   * Judges an error of a wallet. Some answer with one after they have sent, be it a user's no: the chain is read after it. A no counts when
   * nothing is there, and the account has sent nothing since it was asked.
   * @returns `no` when it has sent nothing; undefined when nobody knows. It throws what a node throws
   */
  async function judgeError(error: unknown, lookNow: () => Promise<Found>) {
    const found = await lookNow().catch(lookNow)
    if (found === 'there') return found
    const quietMs = quietMsOf(error, isContract, before?.hasCode)
    if (found === 'UNCERTAIN' || quietMs === undefined) return undefined
    const end = Date.now() + quietMs
    for (; !signal.aborted && (await isQuiet()); await pause(wait.pollMs, signal))
      if (Date.now() >= end) return 'no'
    return undefined
  }

  /** Whether the account has sent nothing since the wallet was asked. */
  async function isQuiet() {
    return before && (await readAccount(account.address)).sent === before.sent
  }

  /** Tells what the wallet has sent, and waits for it. */
  function followSent(sent: DepositProgress) {
    tell(sent)
    return follow(sent)
  }

  /** Waits for what the wallet was asked for. @throws DepositError */
  async function follow(progress: DepositProgress) {
    const { step, hash, batchId } = progress
    const isApproval = step === 'approve'
    const isOwn = ({ from, input }: NodeTransaction) =>
      [account.address, quote.user].some((own) => isAddressEqual(own, from)) &&
      (isApproval || input.toLowerCase().includes(call.data.slice(2).toLowerCase()))
    const watched = { client, isOwn, withoutEffect: isApproval ? 'APPROVAL_TOO_LOW' : undefined } as const
    const read = batchId
      ? () => readBatch(request, watched, batchId)
      : hash && watchTransaction(watched, hash)
    // A transaction at a higher fee may have brought a part of the tokens.
    const readOutcome = read
      ? async () => {
          const outcome = await read()
          return outcome && (await hasTokens()) ? 'UNCERTAIN' : outcome
        }
      : undefined
    await untilThere({ ...wait, look: lookFor(progress), readOutcome }).catch((error: unknown) => {
      // The approval itself is mined: it is not waited for again.
      if (error instanceof DepositError && error.reason === 'APPROVAL_TOO_LOW')
        tell({ ...progress, state: 'mined' })
      throw error
    })
    tell({ ...progress, state: 'mined' })
  }

  /** Looks for a step: after an approval, fewer calls are left. Tells when a transfer would come too late by now: its prompt may be open. */
  function lookFor(asked: DepositProgress): () => Promise<Found> {
    const { step, state, hash } = asked
    const { length } = calls
    const lookNow = async () => {
      const left = step === 'approve' && (await readCalls())
      if (!left || left.length >= length) return look()
      calls = left
      return 'there'
    }
    const isOpen = state === 'asked' && hash === undefined
    return isOpen ? onChain.watchTime(lookNow, () => tell({ ...asked, state: 'late' })) : lookNow
  }
}
