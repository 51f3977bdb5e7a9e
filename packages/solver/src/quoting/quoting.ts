import { type Address, getAddress, maxUint256 } from 'viem'
import * as z from 'zod'
import { linkSignal, untilAborted } from '../../../client/src/calls/abort.js'
import { modeOfNonce } from '../../../protocol/src/quotes/nonce-mode.js'
import type { Quote } from '../../../protocol/src/quotes/quote.js'
import { DECLINE_CODES, type DeclineCode } from '../../../protocol/src/solvers/solver-result.js'
import { lowerCase } from '../../../protocol/src/values/hex.js'
import type { ChainRun } from '../chain/chain-run.js'
import { termsOf } from '../orders/order-terms.js'
import { isPrice } from '../risk/quote-ledger.js'
import type { SessionAnswer } from '../session/session-messages.js'
import type { IncomingRequest } from '../session/wire-forms.js'
import type { Priced, QuoteAnswer } from '../solver-options.js'
import type { SolverParts } from '../solver-parts.js'
import type { AnswerBudget, AnswerSource } from './answer-budget.js'
import { createNonces } from './nonces.js'
import type { QuoteSigner } from './quote-signer.js'
import { requestProblem } from './request-rules.js'

/** So many requests are answered at a time, over all sessions and the endpoint (docs/decisions.md, D23). */
const MAX_ANSWERS_UNDER_WAY = 64
/** A later deadline counts as this one: such requests would hold all answers of a slow `quote`. */
const MAX_ANSWER_MS = 60_000

const LATE = new Error('the deadline has passed: it must answer earlier')

/** Answers requests with signed quotes, until their deadline at the latest. It never throws. */
export type Quoting = (
  request: IncomingRequest,
  source: AnswerSource,
  signal?: AbortSignal,
) => Promise<SessionAnswer>

/** The answer of `quote` that makes no offer. A decline in time never counts against the solver. */
export function decline(code: DeclineCode): { readonly decline: DeclineCode } {
  return { decline: code }
}

/** Builds the answers of a solver: its own prices within what it has. */
export function createQuoting(
  parts: SolverParts,
  chains: ReadonlyMap<number, ChainRun>,
  sign: QuoteSigner['sign'],
  budget: AnswerBudget,
): Quoting {
  const { options, metrics, log, isDue, onError, clock } = parts
  const solver = lowerCase(parts.account.address)
  const nextNonce = createNonces()
  let underWay = 0

  function refuse(code: DeclineCode): SessionAnswer {
    metrics.declined++
    if (code === 'INSUFFICIENT_LIQUIDITY') metrics.declinedForLiquidity++
    return decline(code)
  }

  /**
   * Prices are asked often, and count as quotes do: anybody can pay at the address of one. Those of an output token and a deposit mode
   * share a nonce until the first of them is ended, so that one of them at most can be taken (docs/decisions.md, D23).
   */
  function nonceFor({ ledger, time }: ChainRun, request: IncomingRequest): bigint {
    const mode = request.isForAddress ? 'ADDRESS' : 'CONTRACT'
    if (isPrice(request))
      for (const { quote, deposit } of ledger.quotes()) {
        const isSame = quote.outputToken === request.outputToken && modeOfNonce(quote.nonce) === mode
        const isOpen = deposit === 'NONE' && time.now() <= quote.depositDeadline
        if (isPrice(quote) && isSame && isOpen) return quote.nonce
      }
    return nextNonce(mode)
  }

  /** Why a request must not be answered at this time, whatever its price. */
  function refusal(run: ChainRun, request: IncomingRequest): DeclineCode | undefined {
    if (!isTraded(run, request)) return 'UNSUPPORTED_PAIR'
    if (request.amount === 0n) return 'AMOUNT_TOO_SMALL'
    const problem = requestProblem(request, options, run, clock.now())
    const why = problem ?? run.pauseFor(request)
    if (why === undefined) return undefined
    const code = problem === undefined ? 'PAUSED' : 'OTHER'
    if (isDue(code)) log.info({ chainId: request.chainId, why }, 'request declined')
    return code
  }

  /** Strangers choose what `quote` is asked, so what it does wrong is a decline and a line, and no error. */
  async function price(request: IncomingRequest, signal: AbortSignal): Promise<Priced | DeclineCode> {
    const asked = async () => options.quote({ ...toPublic(request), signal })
    try {
      return readAnswer(await untilAborted(asked(), signal))
    } catch (error) {
      // Nobody waits for this answer any more.
      if (signal.aborted && signal.reason !== LATE) return 'OTHER'
      metrics.quotesFailed++
      const { chainId, orderType, amount } = request
      const why = error instanceof Error ? error.message : String(error)
      const fields = { chainId, orderType, amount: String(amount), why }
      if (isDue('quote has failed')) log.warn(fields, 'quote has failed: declined')
      log.debug({ err: error }, 'quote has failed')
      return 'OTHER'
    }
  }

  async function answer(request: IncomingRequest, signal: AbortSignal): Promise<SessionAnswer> {
    const run = chains.get(request.chainId)
    if (run === undefined) return refuse('UNSUPPORTED_PAIR')
    const atFirst = refusal(run, request)
    if (atFirst !== undefined) return refuse(atFirst)
    const timesCancelled = run.ending.timesCancelled()
    const priced = await price(request, signal)
    if (typeof priced === 'string') return refuse(priced)
    const bound = bindingFor(request, priced, run.time.now())
    const quote = toQuote(solver, bound, priced.amount, nonceFor(run, bound))
    // Without a bond, nothing would make it worth to end it.
    if (quote.outputAmount < run.chain.minOrder || run.ledger.bondOf(quote) === 0n)
      return refuse('AMOUNT_TOO_SMALL')
    // Time has passed. From here on, nothing may come between the checks and the promise.
    const refused = refusal(run, bound)
    if (refused !== undefined) return refuse(refused)
    // A cancellation takes no tokens from a user of a price.
    const asked = { quote, isForAddress: request.isForAddress && !isPrice(quote) }
    const { ledger, addresses, losses } = run
    const shortage = ledger.shortageFor(asked, addresses.keepsTokens(), losses.ofDay())
    if (shortage !== undefined) {
      const { chainId, outputToken } = request
      const fields = { chainId, outputToken, outputAmount: String(quote.outputAmount), shortage }
      if (isDue(`${outputToken} ${shortage}`)) log.info(fields, 'too little for a quote')
      return refuse(shortage === 'BOND_SHARE' ? 'BOND_CANNOT_COVER' : 'INSUFFICIENT_LIQUIDITY')
    }
    run.ledger.promise(asked)
    try {
      const signed = await untilAborted(sign(run.chain, quote), signal)
      if (run.time.now() >= quote.depositDeadline)
        throw new Error('the account has signed a quote after its deposit deadline')
      const offered = { ...signed, isForAddress: asked.isForAddress, quoteId: request.id }
      if (run.ending.timesCancelled() !== timesCancelled) return refuse('PAUSED')
      run.ledger.add(offered)
      metrics.quoted++
      run.books.quoted({ ...termsOf(offered), kind: request.kind })
      return { quote, signature: signed.signature }
    } finally {
      // It is kept once it is signed.
      run.ledger.withdraw(quote)
    }
  }

  return async (request, source, signal) => {
    metrics.requests++
    if (request.kind === 'INDICATIVE') metrics.requestsForPrices++
    // An instance may send as many as it likes.
    if (underWay >= MAX_ANSWERS_UNDER_WAY || !budget.take(source)) return refuse('PAUSED')
    underWay++
    const ending = new AbortController()
    const unlink = [linkSignal(parts.signal, ending), linkSignal(signal, ending)]
    const leftMs = Math.min(Math.max(0, request.deadline - clock.now()), MAX_ANSWER_MS)
    const timer = clock.setTimeout(() => ending.abort(LATE), leftMs)
    try {
      return await answer(request, ending.signal)
    } catch (error) {
      // Nobody waits for this answer any more.
      if (!signal?.aborted && !parts.signal.aborted) onError(error)
      return refuse('OTHER')
    } finally {
      underWay--
      timer.stop()
      for (const remove of unlink) remove()
    }
  }
}

/** The kit pays on the chain of the deposit, in tokens that it has been given. No price of a token in itself is safe. */
function isTraded({ chain }: ChainRun, request: IncomingRequest): boolean {
  const { inputToken, outputToken, destinationChainId } = request
  const isPair = inputToken !== outputToken && chain.tokens.has(inputToken) && chain.tokens.has(outputToken)
  return isPair && destinationChainId === chain.chainId
}

/** A request as the market maker gets it. */
export function toPublic(request: IncomingRequest): IncomingRequest {
  return {
    ...request,
    inputToken: getAddress(request.inputToken),
    outputToken: getAddress(request.outputToken),
    user: getAddress(request.user),
  }
}

/** What `quote` returns, also that of a program without types. */
const ANSWER = z.union([
  z.object({ decline: z.enum(DECLINE_CODES) }),
  z.object({
    amount: z.bigint().min(1n).max(maxUint256),
    expiresInSeconds: z.number().gt(0).optional(),
  }),
])
const MUST_RETURN = `it must return { amount } with a bigint of 1 to 2^256-1, where expiresInSeconds is a number above 0, or decline(code) with one of ${DECLINE_CODES.join(', ')}`

/** @throws Error for what is neither an amount nor a decline */
function readAnswer(answer: QuoteAnswer): Priced | DeclineCode {
  const { data } = ANSWER.safeParse(answer)
  if (data === undefined) throw new Error(MUST_RETURN)
  return 'decline' in data ? data.decline : data
}

/** The request with the deadlines that the price binds for (docs/decisions.md, D32). @param now Unix seconds */
function bindingFor(
  request: IncomingRequest,
  { expiresInSeconds: seconds = Number.POSITIVE_INFINITY }: Priced,
  now: number,
): IncomingRequest {
  const { depositDeadline: latest, minDepositDeadline: earliest = latest } = request
  const depositDeadline = Math.min(latest, Math.max(earliest, Math.ceil(now + seconds)))
  return { ...request, depositDeadline, fillDeadline: request.fillDeadline - latest + depositDeadline }
}

function toQuote(solver: Address, request: IncomingRequest, amount: bigint, nonce: bigint): Quote {
  const { user, inputToken, outputToken, orderType, destinationChainId, depositDeadline, fillDeadline } =
    request
  const [inputAmount, outputAmount] =
    orderType === 'EXACT_INPUT' ? [request.amount, amount] : [amount, request.amount]
  const amounts = { inputToken, inputAmount, outputToken, outputAmount, orderType }
  return { solver, user, ...amounts, outputChainId: destinationChainId, depositDeadline, fillDeadline, nonce }
}
