import { randomBytes, randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { QuoteRequest } from '../../../protocol/src/quotes/quote.js'
import {
  createContractRules,
  createOfferValidator,
  type ViolationOf,
} from '../../../protocol/src/signing/offer-validator.js'
import { deadlines } from '../../../protocol/src/signing/quote-request.js'
import type { SolverResult } from '../../../protocol/src/solvers/solver-result.js'
import type { Address } from '../../../protocol/src/values/hex.js'
import type { TrialTransport } from './certify-host.js'
import type { Finding, SignatureDetails } from './report.js'
import { describeSignature } from './signature-details.js'
import type { SigningTerms } from './signing-terms.js'

/** How a request differs from the usual one. */
export interface RequestChange {
  readonly fields?: Partial<QuoteRequest>
  readonly depositWindowSeconds?: number
  /** Offers may be earlier than the deposit window. */
  readonly minDepositWindowSeconds?: number
  /** The deadline that the solver gets, in milliseconds from now. The solver has the whole time-out in any case. */
  readonly deadlineMs?: number
  /** Changes the JSON text of the request. */
  readonly write?: (body: string) => string
}

/** The solver's reply to one request, validated by the service's code. */
export interface TrialReply {
  readonly request: QuoteRequest
  readonly solver: Address
  readonly result: SolverResult
  readonly tookMs: number
  readonly signature: SignatureDetails | undefined
}

/** The swap that the solver is asked for. */
export interface TrialSwap {
  readonly inputToken: Address
  readonly outputToken: Address
  /** In the input token's smallest unit. */
  readonly amount: bigint
}

interface TrialOptions {
  readonly signing: SigningTerms
  /** Of the solver; undefined for one that has none yet. */
  readonly freeBond: bigint | undefined
  readonly solver: Address
  readonly swap: TrialSwap
  readonly transport: TrialTransport
  /** Milliseconds. */
  readonly timeoutMs: number
  /** Ends the run. */
  readonly signal: AbortSignal
}

const DEPOSIT_WINDOW_SECONDS = 300
const FILL_WINDOW_SECONDS = 120

/** Asks one solver as the service does. */
export type Trial = ReturnType<typeof createTrial>

/** Builds it. */
export function createTrial(options: TrialOptions) {
  const { signing, freeBond, solver, swap, transport, timeoutMs, signal } = options
  const { chainId, hasher } = signing
  const validate = createOfferValidator(createTrialRules(signing, freeBond))
  let firstOutput: bigint | undefined
  // Each open request listens.
  setMaxListeners(0, signal)

  function toRequest({ fields, ...change }: RequestChange): QuoteRequest {
    const { depositWindowSeconds = DEPOSIT_WINDOW_SECONDS, minDepositWindowSeconds } = change
    const fillWindowSeconds = FILL_WINDOW_SECONDS
    const { inputToken, outputToken, amount } = swap
    return {
      kind: 'FIRM',
      chainId,
      inputToken,
      outputToken,
      orderType: 'EXACT_INPUT',
      amount,
      user: randomAddress(),
      destinationChainId: chainId,
      depositMode: 'CONTRACT',
      ...deadlines(Date.now(), { depositWindowSeconds, fillWindowSeconds, minDepositWindowSeconds }),
      ...fields,
    }
  }

  async function judgeBody(request: QuoteRequest, body: unknown): Promise<SolverResult> {
    const result = await validate({ request, hasher, solver, body })
    if (result.kind === 'quoted' && request.orderType === 'EXACT_INPUT')
      firstOutput ??= result.offer.quote.outputAmount
    return result
  }

  return {
    timeoutMs,
    signal,
    /** The input amount of usual requests. */
    amount: swap.amount,
    /** The amount of EXACT_OUTPUT requests; undefined without an offer to take it from. */
    outputAmount: () => firstOutput,
    /**
     * Sends a request, and validates the reply.
     * @throws the signal's reason
     */
    async requestQuote(change: RequestChange = {}): Promise<TrialReply> {
      const request = toRequest(change)
      const id = randomUUID()
      const deadline = Date.now() + (change.deadlineMs ?? timeoutMs)
      const start = performance.now()
      const sent = { solver, request, id, deadline, write: change.write }
      const answer = await transport.requestQuote(sent, timeoutMs, signal)
      const result = answer.kind === 'replied' ? await judgeBody(request, answer.body) : answer
      const tookMs = performance.now() - start
      signal.throwIfAborted()
      transport.reportResult(id, result)
      const isUnsigned = result.kind === 'invalid' && result.reason.startsWith('signature_')
      const signature =
        answer.kind === 'replied' && isUnsigned
          ? describeSignature(signing, request, solver, answer.body)
          : undefined
      return { request, solver, result, tookMs, signature }
    },
  }
}

/** An address that no one has used. */
export function randomAddress(): Address {
  return `0x${randomBytes(20).toString('hex')}`
}

/** One thing that a solver must do. */
export interface CertifyCase<Subject = unknown> {
  /** Stays the same over versions. */
  readonly name: string
  readonly title: string
  /** Whether nothing else can be learned when it fails to get a reply. */
  readonly isEssential?: true
  /** @param subject the endpoint or the session of the solver */
  run(trial: Trial, subject: Subject): Promise<Finding>
}

/**
 * Builds the service's rules of the contract for one solver. The bond counts when the solver has one already. A nonce counts as
 * used once a firm offer has carried it.
 */
function createTrialRules({ chainId, terms }: SigningTerms, freeBond: bigint | undefined): ViolationOf {
  const checked = freeBond === undefined ? { ...terms, bondReservationBps: undefined } : terms
  /** The nonces that this run has seen. It sends a bounded number of requests. */
  const sent = new Set<bigint>()
  const rules = createContractRules({
    chains: new Map([[chainId, { terms: () => checked }]]),
    freeBonds: { of: () => freeBond },
    usedNonces: { isUsed: (_key, nonce) => sent.has(nonce) },
    // Nothing is told of the time that an offer leaves at the answer: there is none.
    deadlineTime: () => 0,
  })
  return (request, quote) => {
    const violation = rules.violationOf(request, quote)
    if (request.kind === 'FIRM') sent.add(quote.nonce)
    return violation
  }
}
