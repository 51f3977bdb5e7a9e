import { ServiceError } from '../../packages/protocol/src/errors.js'
import { explainCheck } from '../../packages/protocol/src/quotes/explain.js'
import { readPartOf } from '../../packages/protocol/src/quotes/offer.js'
import type { QuoteRequest, Swap } from '../../packages/protocol/src/quotes/quote.js'
import type { QuoteParameters } from '../../packages/protocol/src/quotes/quote-record.js'
import { createOfferValidator } from '../../packages/protocol/src/signing/offer-validator.js'
import { type QuoteHasher, toChecksumAddress } from '../../packages/protocol/src/signing/typed-data.js'
import type { SolverKey } from '../../packages/protocol/src/solvers/solver.js'
import { toRecordedResult } from '../../packages/protocol/src/solvers/solver-result.js'
import { type Address, parseAddress } from '../../packages/protocol/src/values/hex.js'
import { afterReading } from '../concurrency/process-pauses.js'
import type { RegistrationCheck } from '../solvers/registry/registrations.js'
import { type CalledSolver, createSolverHttpClient } from '../solvers/transport/solver-http-client.js'
import { sendTrialRequest } from '../solvers/transport/trial-request.js'
import type { AuctionContext } from './context.js'
import { indicativeRequest } from './prices.js'

const CHECK_TIMEOUT_MS = 1000

/** After a start, the service reads a chain that answers within this time. */
const CHAIN_RETRY_SECONDS = 5

/**
 * Builds the check of the endpoint of a solver that registers: an indicative quote, whose result is explained. It takes at
 * most a second, and no record or metric contains it. Calls follow the rules of the endpoint guard and use separate
 * connections. In production, a failure to connect is reported after the whole second and without its reason. So neither the
 * answer nor its time shows which ports of a host are open.
 * @param lastOf the last request of a chain that got a valid offer: a check requests the same pair. Undefined until the first one
 */
export function createCheckEndpoint(
  context: AuctionContext,
  lastOf: (chainId: number) => QuoteRequest | undefined,
) {
  const { chains, endpointGuard, config, clock, log } = context
  const { production } = config
  // The solver does not choose the amount of the check. So offers are not checked against its bond or the minimum order.
  const validateOffer = createOfferValidator(() => undefined)

  /** Resolves with the result, at the latest after the time-out, when what has come by then is read. */
  async function requestQuote(solver: CalledSolver, request: QuoteRequest, hasher: QuoteHasher) {
    const client = createSolverHttpClient(endpointGuard, 1)
    const trial = { request, deadline: clock.now() + CHECK_TIMEOUT_MS }
    const time = new AbortController()
    const timer = clock.setTimeout(() => void afterReading(() => time.abort()), CHECK_TIMEOUT_MS)
    const reply = await sendTrialRequest(trial, time.signal, (...call) =>
      client.requestQuote(solver, ...call),
    )
    timer.stop()
    // The answer does not wait for it.
    void client.close()
    if (reply.kind !== 'replied') return reply
    const validate = (asked: Address) => validateOffer({ request, hasher, solver: asked, body: reply.body })
    const claimed = claimedSolver(reply.body) ?? solver.address
    const result = await validate(claimed)
    if (claimed === solver.address) return result
    if (result.kind === 'quoted') throw answersForAnother(claimed)
    return validate(solver.address)
  }

  /**
   * A registration is valid with every result.
   * @throws ServiceError ENDPOINT_REJECTED when the endpoint answers with another solver's valid signature
   * (docs/decisions.md, D23)
   */
  return async (solver: SolverKey & CalledSolver): Promise<RegistrationCheck> => {
    const { chainId, address } = solver
    const chain = chains.get(chainId)
    const typedData = chain?.quoteTypedData()
    if (chain === undefined || typedData === undefined) {
      const explanation = `The endpoint was not checked: chain ${chainId} has not been read yet. Register again in ${CHAIN_RETRY_SECONDS} s to have it checked.`
      return { outcome: 'skipped', explanation }
    }
    const lastQuoted = lastOf(chainId)
    const request = indicativeRequest(context, swapOf(lastQuoted ?? { ...MADE_UP_SWAP, chainId }))
    const start = clock.monotonic()
    const result = await requestQuote(solver, request, chain.quoteHasher())
    const logged = result.kind === 'quoted' ? { kind: result.kind } : result
    log.info({ chainId, solver: address, result: logged }, 'an endpoint was checked')
    if (production && result.kind === 'failed')
      await clock.sleep(start + CHECK_TIMEOUT_MS - clock.monotonic())
    const parameters: QuoteParameters = { ...request, amount: request.amount.toString() }
    const answer = toRecordedResult({ solver: address, result, tookMs: CHECK_TIMEOUT_MS })
    const explanation = explainCheck(answer, {
      request: parameters,
      typedData,
      isMadeUp: lastQuoted === undefined,
      showsNetworkErrors: !production,
    })
    return { outcome: result.kind, explanation }
  }
}

/** Whom a reply names as its solver; undefined when it has no address there. */
function claimedSolver(body: unknown): Address | undefined {
  const { quote } = (readPartOf(body) ?? {}) as { readonly quote?: { readonly solver?: unknown } }
  return parseAddress(quote?.solver)
}

function answersForAnother(solver: Address): ServiceError {
  const signer = toChecksumAddress(solver)
  return new ServiceError(
    'ENDPOINT_REJECTED',
    `The endpoint belongs to another solver: its quote is signed by ${signer}. Register the endpoint of your own solver.`,
  )
}

/** A swap of tokens that do not exist: the addresses are precompiled contracts. */
const MADE_UP_SWAP = {
  inputToken: '0x0000000000000000000000000000000000000001',
  outputToken: '0x0000000000000000000000000000000000000002',
  orderType: 'EXACT_INPUT',
  amount: 10n ** 18n,
} as const

/** What the request of a check takes from another one. */
function swapOf({ chainId, inputToken, outputToken, orderType, amount }: Swap): Swap {
  return { chainId, inputToken, outputToken, orderType, amount: firstDigitOf(amount) }
}

/** Replaces all digits after the first with zeros, so that a new solver does not learn the exact amount of a user. */
function firstDigitOf(amount: bigint): bigint {
  const digits = amount.toString()
  return BigInt(digits.charAt(0).padEnd(digits.length, '0'))
}
