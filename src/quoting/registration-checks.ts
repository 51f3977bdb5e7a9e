import { setTimeout as delay } from 'node:timers/promises'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Chain } from '../chain/chain.js'
import type { Address } from '../domain/hex.js'
import { deadlines, type QuoteRequest } from '../domain/quote.js'
import type { QuoteParameters, RecordedResult } from '../domain/quote-record.js'
import type { SolverKey } from '../domain/solver.js'
import type { SolverResult } from '../domain/solver-result.js'
import type { EndpointGuard } from '../solvers/endpoint-guard.js'
import { type CalledSolver, createSolverClient, createSolverRequest } from '../solvers/solver-client.js'
import type { Logger } from '../telemetry/log.js'
import { explainCheck } from './explain.js'
import { createOfferValidator } from './offer-validator.js'
import { requestBody } from './request-body.js'

/** The result of the check of a registered endpoint, with an explanation for its developer. */
export interface RegistrationCheck {
  readonly outcome: 'quoted' | 'declined' | 'invalid' | 'late' | 'failed' | 'skipped'
  readonly explanation: string
}

/** Checks the endpoints of registered solvers with one request each. */
export interface RegistrationChecks {
  /**
   * Requests an indicative quote from a registered endpoint. It takes at most a second, and no record or metric contains it.
   * It never throws: the registration is valid with every result.
   */
  check(solver: CheckedSolver): Promise<RegistrationCheck>
  /** Stores the pair of a request with a valid offer. The next check on its chain requests the same pair. */
  noteQuoted(request: QuoteRequest): void
}

interface RegistrationChecksOptions {
  readonly chains: ReadonlyMap<number, Pick<Chain, 'quoteHasher' | 'quoteTypedData'>>
  readonly endpointGuard: EndpointGuard
  readonly production: boolean
  readonly defaultDepositWindowSeconds: number
  readonly defaultFillWindowSeconds: number
  /** Unix time in milliseconds. */
  readonly now: () => number
  readonly log: Logger
}

type CheckedSolver = SolverKey & CalledSolver

/** The fields of a request that later checks on its chain repeat. */
type Swap = Pick<QuoteRequest, 'inputToken' | 'outputToken' | 'orderType' | 'amount'>

const CHECK_TIMEOUT_MS = 1000
/** The most pending checks of all solvers together. */
const MAX_AT_ONCE = 32
/** The most checks of one solver in a minute, from all client addresses together. */
const MAX_PER_MINUTE = 5
const OFTEN = `it has been checked ${MAX_PER_MINUTE} times within a minute`
/** After a start, the service reads a chain that answers within this time. */
const CHAIN_RETRY_SECONDS = 5
/** The user in requests of checks: an address without a known key. */
const NO_USER: Address = '0x000000000000000000000000000000000000dead'
/** A swap of tokens that do not exist: the addresses are precompiled contracts. */
const MADE_UP_SWAP: Swap = {
  inputToken: '0x0000000000000000000000000000000000000001',
  outputToken: '0x0000000000000000000000000000000000000002',
  orderType: 'EXACT_INPUT',
  amount: 10n ** 18n,
}
/** The solver does not choose the amount of the check. So offers are not checked against its bond or the minimum order. */
const NO_RULES = { violationOf: () => undefined }

/**
 * Builds the checks. Calls follow the rules of the endpoint guard and use separate connections.
 * In production, a failure to connect is reported after the whole second and without its reason. So neither the answer nor
 * its time shows which ports of a host are open.
 */
export function createRegistrationChecks(options: RegistrationChecksOptions): RegistrationChecks {
  const { chains, endpointGuard, production, now, log } = options
  const lastSwaps = new Map<number, Swap>()
  const underWay = new Set<string>()
  const limiter = new RateLimiterMemory({ points: MAX_PER_MINUTE, duration: 60 })
  const validateOffer = createOfferValidator(NO_RULES, () => {})

  function requestFor(chainId: number): QuoteRequest {
    const { defaultDepositWindowSeconds, defaultFillWindowSeconds } = options
    const windows = {
      depositWindowSeconds: defaultDepositWindowSeconds,
      fillWindowSeconds: defaultFillWindowSeconds,
    }
    return {
      ...(lastSwaps.get(chainId) ?? MADE_UP_SWAP),
      chainId,
      user: NO_USER,
      destinationChainId: chainId,
      depositMode: 'CONTRACT',
      ...deadlines(now(), windows),
    }
  }

  /** Resolves with the result, at the latest after the time-out. */
  async function requestQuote(solver: CalledSolver, request: QuoteRequest): Promise<SolverResult> {
    const hasher = chains.get(request.chainId)?.quoteHasher()
    if (hasher === undefined) throw new Error(`chain ${request.chainId} is not served`)
    const client = createSolverClient(endpointGuard, 1)
    const solverRequest = { ...createSolverRequest(requestBody(request), NO_IDS), isIndicative: true }
    const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS)
    let isSent = false
    const onSent = () => {
      isSent = true
    }
    try {
      const reply = await client.requestQuote(solver, solverRequest, signal, { onSent })
      if (reply.kind === 'cancelled') return isSent ? { kind: 'late' } : UNREACHABLE
      if (reply.kind !== 'replied') return reply
      return await validateOffer({ request, hasher, solver: solver.address, body: reply.body })
    } finally {
      await client.close()
    }
  }

  async function checkNow(solver: CheckedSolver): Promise<RegistrationCheck> {
    const { chainId, address } = solver
    const isMadeUp = !lastSwaps.has(chainId)
    const request = requestFor(chainId)
    const start = performance.now()
    const result = await requestQuote(solver, request)
    const answer = toAnswer(address, result)
    const { outcome } = answer
    log.info({ chainId, solver: address, result: withoutOffer(result) }, 'a registered endpoint was checked')
    if (production && outcome === 'failed') await delay(start + CHECK_TIMEOUT_MS - performance.now())
    const typedData = chains.get(chainId)?.quoteTypedData()
    const parameters: QuoteParameters = { ...request, amount: request.amount.toString() }
    return {
      outcome,
      explanation: explainCheck(answer, {
        request: parameters,
        typedData,
        isMadeUp,
        showsNetworkErrors: !production,
      }),
    }
  }

  return {
    async check(solver) {
      const key = `${solver.chainId}:${solver.address}`
      if (underWay.has(key)) return skipped('another check of it is under way', 1)
      if (underWay.size >= MAX_AT_ONCE) return skipped('many others are being checked', 1)
      const { chainId } = solver
      if (chains.get(chainId)?.quoteTypedData() === undefined)
        return skipped(`chain ${chainId} has not been read yet`, CHAIN_RETRY_SECONDS)
      try {
        await limiter.consume(key)
      } catch (thrown) {
        if (!(thrown instanceof RateLimiterRes)) throw thrown
        return skipped(OFTEN, Math.ceil(thrown.msBeforeNext / 1000))
      }
      underWay.add(key)
      try {
        return await checkNow(solver)
      } catch (error) {
        log.error(
          { chainId: solver.chainId, solver: solver.address, err: error },
          'an endpoint was not checked',
        )
        return skipped('the service has failed', 1)
      } finally {
        underWay.delete(key)
      }
    },

    noteQuoted({ chainId, inputToken, outputToken, orderType, amount }) {
      lastSwaps.set(chainId, { inputToken, outputToken, orderType, amount: firstDigitOf(amount) })
    },
  }
}

const NO_IDS: ReadonlyMap<Address, string> = new Map()
const UNREACHABLE: SolverResult = { kind: 'failed', reason: 'unreachable', message: '' }

/** Replaces all digits after the first with zeros, so that a new solver does not learn the exact amount of a user. */
function firstDigitOf(amount: bigint): bigint {
  const digits = amount.toString()
  return BigInt(digits.charAt(0).padEnd(digits.length, '0'))
}

type CheckedAnswer = RecordedResult & { readonly outcome: Exclude<RegistrationCheck['outcome'], 'skipped'> }

function toAnswer(solver: Address, result: SolverResult): CheckedAnswer {
  switch (result.kind) {
    case 'quoted':
      return { solver, outcome: 'quoted' }
    case 'declined':
      return { solver, outcome: 'declined', httpStatus: result.status }
    case 'invalid':
      return { solver, outcome: 'invalid', reason: result.reason }
    case 'failed':
      return { solver, outcome: 'failed', reason: result.reason }
    default:
      return { solver, outcome: 'late', durationMs: CHECK_TIMEOUT_MS }
  }
}

function withoutOffer(result: SolverResult): object {
  return result.kind === 'quoted' ? { kind: result.kind } : result
}

/** @param reason why the check was skipped, as a part of a sentence */
function skipped(reason: string, seconds: number): RegistrationCheck {
  return {
    outcome: 'skipped',
    explanation: `The endpoint was not checked: ${reason}. Register again in ${seconds} s to have it checked.`,
  }
}
