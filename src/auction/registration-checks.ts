import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { ServiceError } from '../../packages/protocol/src/errors.js'
import {
  type CheckedSolver,
  createCheckEndpoint,
  type LastQuoted,
  type RegistrationCheck,
} from './check-endpoint.js'
import type { AuctionContext } from './context.js'

/** The most pending checks of all solvers together. */
const MAX_AT_ONCE = 32
/** The most checks of one solver in a minute, from all client addresses together. */
const MAX_PER_MINUTE = 5
const OFTEN = `it has been checked ${MAX_PER_MINUTE} times within a minute`
/** After a start, the service reads a chain that answers within this time. */
const CHAIN_RETRY_SECONDS = 5

/**
 * Checks the endpoints of solvers that register, with one request each.
 * Builds the checks, within their limits.
 */
export function createRegistrationChecks(context: AuctionContext, lastOf: LastQuoted) {
  const { chains, log } = context
  const checkNow = createCheckEndpoint(context, lastOf)
  /** A check of the same solver and endpoint is shared. */
  const underWay = new Map<string, Promise<RegistrationCheck>>()
  const limiter = new RateLimiterMemory({ points: MAX_PER_MINUTE, duration: 60 })

  async function checkOrExplain(solver: CheckedSolver): Promise<RegistrationCheck> {
    try {
      return await checkNow(solver)
    } catch (error) {
      if (error instanceof ServiceError) throw error
      log.error(
        { chainId: solver.chainId, solver: solver.address, err: error },
        'an endpoint was not checked',
      )
      return skipped({ reason: 'the service has failed', seconds: 1 })
    }
  }

  /** Every check counts. A new endpoint is checked also beyond the limit: it is not registered unchecked. */
  async function checkWithinLimit(solver: CheckedSolver, isStored: boolean): Promise<RegistrationCheck> {
    try {
      await limiter.consume(`${solver.chainId}:${solver.address}`)
    } catch (thrown) {
      if (!(thrown instanceof RateLimiterRes)) throw thrown
      if (isStored) return skipped({ reason: OFTEN, seconds: Math.ceil(thrown.msBeforeNext / 1000) })
    }
    return checkOrExplain(solver)
  }

  return {
    /**
     * Requests an indicative quote from an endpoint. It takes at most a second, and no record or metric contains it.
     * @param isStored whether it is the solver's endpoint already. Only then it may stay unchecked because of the limits of checks.
     * @throws ServiceError ENDPOINT_REJECTED when the endpoint answers with another solver's valid signature (docs/decisions.md,
     *   D23); RATE_LIMITED. A registration is valid with every result.
     */
    async check(solver: CheckedSolver, isStored: boolean): Promise<RegistrationCheck> {
      const { chainId, address, endpointUrl } = solver
      if (chains.get(chainId)?.quoteTypedData() === undefined)
        return skipped({ reason: `chain ${chainId} has not been read yet`, seconds: CHAIN_RETRY_SECONDS })
      const key = `${chainId} ${address} ${endpointUrl}`
      const known = underWay.get(key)
      if (known !== undefined) return known
      if (underWay.size >= MAX_AT_ONCE && isStored) return skipped(BUSY)
      if (underWay.size >= MAX_AT_ONCE) throw busy()
      const check = checkWithinLimit(solver, isStored).finally(() => underWay.delete(key))
      underWay.set(key, check)
      return check
    },
  }
}

/** Why a check is not made now. */
interface Limit {
  /** As a part of a sentence. */
  readonly reason: string
  readonly seconds: number
}

const BUSY: Limit = { reason: 'many others are being checked', seconds: 1 }

function skipped({ reason, seconds }: Limit): RegistrationCheck {
  return {
    outcome: 'skipped',
    explanation: `The endpoint was not checked: ${reason}. Register again in ${seconds} s to have it checked.`,
  }
}

function busy(): ServiceError {
  const message = `The endpoint cannot be checked: ${BUSY.reason}. Register again in ${BUSY.seconds} s.`
  return new ServiceError('RATE_LIMITED', message, { retryAfterSeconds: BUSY.seconds })
}
