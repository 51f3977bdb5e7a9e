import { RpcError } from '../../../packages/chain/src/json-rpc.js'
import { createEndpointOrder } from '../../../packages/chain/src/rpc-client.js'
import { troubleOf } from '../../../packages/chain/src/rpc-endpoint.js'
import type { SignedQuote } from '../../../packages/protocol/src/quotes/quote.js'
import type { DepositVerdict, UnknownReason } from '../../../packages/protocol/src/quotes/verification.js'
import type { ChainContext } from '../context.js'
import { unknown, verdictOf } from './deposit-errors.js'
import { CALLS_OF_A_CHECK, checkOffer, type OfferCheck, type OfferToCheck } from './offer-check.js'
import {
  createVerificationEndpoint,
  UnsuitableEndpointError,
  type VerificationEndpoint,
} from './verification-endpoint.js'

/** Asks the settlement contract of one chain about offers (docs/decisions.md, D13). */
export type DepositVerifier = ReturnType<typeof createDepositVerifier>

/** Bounds of one chain in one process. The calls count against the limits of the node, next to the reads of events. */
const MAX_UNDER_WAY = 64
const MAX_PER_SECOND = 100

/**
 * Builds the part of a `Chain` that has its contract judge offers. Its calls have connections and a budget of their own, so that no other read waits for
 * them. None of them waits for a place.
 */
export function createDepositVerifier(context: ChainContext) {
  const { config, rpc, verifyTimeoutMs, metrics, clock, log } = context
  const { chainId } = config
  const { monotonic } = clock
  const budget = createCallBudget(MAX_UNDER_WAY, MAX_PER_SECOND, monotonic)
  const endpoints = config.rpcUrls.map((url) =>
    createVerificationEndpoint(url, config, {
      maxInFlight: MAX_UNDER_WAY * CALLS_OF_A_CHECK,
      timeoutMs: verifyTimeoutMs,
      clock,
    }),
  )
  const order = createEndpointOrder(endpoints, monotonic, (endpoint) => {
    const ofReads = rpc.endpoints[endpoints.indexOf(endpoint)]
    return ofReads && troubleOf(ofReads)
  })
  const warnings = new Set<string>()
  // So that the series exist before the first check.
  for (const result of ['accepted', 'rejected', 'unknown'] satisfies DepositVerdict['kind'][])
    metrics.verifications.inc({ chain_id: chainId, result }, 0)
  metrics.verificationSeconds.zero({ chain_id: chainId })

  /** Warns of each reason once. */
  function warn(endpoint: VerificationEndpoint, { message }: UnsuitableEndpointError): void {
    const url = endpoints.indexOf(endpoint) + 1
    const warning = `${url} ${message}`
    if (warnings.has(warning)) return
    warnings.add(warning)
    log.warn({ chainId, url, reason: message }, 'an RPC endpoint cannot check offers')
  }

  /**
   * Asks the endpoints in order until one answers.
   * @returns why the answer is not known, when none does
   */
  async function ask<T>(
    work: (endpoint: VerificationEndpoint) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T | UnknownReason> {
    async function askOne(endpoint: VerificationEndpoint): Promise<T | UnknownReason> {
      const begunAt = monotonic()
      try {
        const answer = await work(endpoint)
        order.markAnswered(endpoint)
        return answer
      } catch (error) {
        if (error instanceof RpcError && error.kind === 'too_long') {
          order.markAnswered(endpoint)
          return 'answer_too_long'
        }
        if (!signal.aborted) throw error
        order.markEnded(endpoint, begunAt, verifyTimeoutMs / 2)
        return 'timeout'
      }
    }

    function onFailure(error: unknown, endpoint: VerificationEndpoint): void {
      if (error instanceof UnsuitableEndpointError) warn(endpoint, error)
      order.markFailed(endpoint)
    }

    return order.inOrder(askOne, onFailure).catch((): UnknownReason => 'no_answer')
  }

  /** @returns why the answer is not known, when there is none */
  async function askInBudget<T>(
    work: (endpoint: VerificationEndpoint) => Promise<T>,
    signal: AbortSignal,
    priority: CallPriority,
  ): Promise<T | UnknownReason> {
    if (signal.aborted) return 'timeout'
    const end = budget.begin(priority)
    if (end === undefined) return 'over_budget'
    const startedAt = monotonic()
    const answer = await ask(work, signal)
    end()
    metrics.verificationSeconds.observe({ chain_id: chainId }, (monotonic() - startedAt) / 1000)
    return answer
  }

  return {
    async verifyDeposit(
      offer: Pick<SignedQuote, 'quote' | 'signature'>,
      signal: AbortSignal,
      priority: CallPriority = 'high',
    ): Promise<DepositVerdict> {
      const call = (endpoint: VerificationEndpoint) => endpoint.callDeposit(offer, signal)
      const answer = await askInBudget(call, signal, priority)
      const verdict = typeof answer === 'string' ? unknown(answer) : verdictOf(answer, offer.quote)
      metrics.verifications.inc({ chain_id: chainId, result: verdict.kind })
      return verdict
    },
    async checkOffer(offer: OfferToCheck, signal: AbortSignal): Promise<OfferCheck> {
      const check = await askInBudget(
        (endpoint) => checkOffer(offer, config, endpoint, signal),
        signal,
        'low',
      )
      return typeof check === 'string' ? { verdict: { state: 'UNKNOWN', reason: check } } : check
    },
    close(): void {
      for (const endpoint of endpoints) endpoint.close()
    },
  }
}

export type CallPriority = 'high' | 'low'

/**
 * Builds a budget of calls, which bounds how many are under way and how many begin in a second. No call waits for a place. A second that
 * was not used allows no more calls in the next one.
 * @param clock milliseconds that never go back
 */
export function createCallBudget(maxUnderWay: number, maxPerSecond: number, clock: () => number) {
  let underWay = 0
  let left = maxPerSecond
  let refilledAt = clock()
  return {
    /**
     * Begins a call.
     * @param priority a call of low priority leaves half of the budget to others
     * @returns a function that ends it; undefined when the budget has no place for it
     */
    begin(priority: CallPriority): (() => void) | undefined {
      const now = clock()
      left = Math.min(maxPerSecond, left + ((now - refilledAt) * maxPerSecond) / 1000)
      refilledAt = now
      const reserved = priority === 'high' ? 0 : 1 / 2
      if (underWay >= maxUnderWay * (1 - reserved) || left < 1 + maxPerSecond * reserved) return undefined
      left--
      underWay++
      let hasEnded = false
      return () => {
        if (!hasEnded) underWay--
        hasEnded = true
      }
    },
  }
}
