import { type Hex, toHex } from 'viem'
import { type LocalAccount, privateKeyToAccount } from 'viem/accounts'
import { onTestFinished } from 'vitest'
import { ORDER_TYPES, type QuoteRequest, type SignedQuote } from '../../packages/protocol/src/quotes/quote.js'
import { createQuoteHasher } from '../../packages/protocol/src/signing/typed-data.js'
import { NO_ENDPOINT, type Solver } from '../../packages/protocol/src/solvers/solver.js'
import type { SessionResult } from '../../packages/protocol/src/solvers/solver-result.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import type { RoundOptions } from '../../src/auction/auction.js'
import type { AuctionContext } from '../../src/auction/context.js'
import { openAuction } from '../../src/auction/open-auction.js'
import { identifyClient } from '../../src/clients/client-id.js'
import { sessionEnded } from '../../src/sessions/session.js'
import type { SolverReply, SolverRequest } from '../../src/solvers/transport/solver-transports.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { solver as registered } from '../solvers/sample-solver.js'
import { createManualClock } from '../support/manual-clock.js'
import { exactInput } from '../support/solvers/sample-quotes.js'
import { contextOf } from './context.js'
import { solverAddress } from './records/sample-round.js'

export const TIMEOUT_MS = 200
const word = (value: number) => toHex(value, { size: 32 })
const hasher = createQuoteHasher('Service', {
  settlement: solverAddress(7),
  domainSeparator: word(8),
  depositProxyCodeHash: word(9),
})
const accounts = [1, 2, 3, 4, 5, 6, 7].map((number) => privateKeyToAccount(word(number)))
const addresses = accounts.map(({ address }) => address.toLowerCase() as Address)

/** What a solver does with a request. */
export type Behaviour = (account: LocalAccount, asked: SolverRequest) => Promise<SolverReply>

/** Offers so much. */
export const offering =
  (outputAmount: bigint): Behaviour =>
  async (account, { request }) => ({ kind: 'replied', body: await reply(account, request, outputAmount) })
export const offer = offering(5n)
export const decline: Behaviour = async () => ({ kind: 'declined', code: 'AMOUNT_TOO_SMALL' })
export const keepSilent: Behaviour = () => new Promise(() => {})

/** The same offer has the same signature. */
const signatures = new Map<string, Hex>()

async function reply(account: LocalAccount, request: QuoteRequest, outputAmount: bigint) {
  const { user, inputToken, outputToken, orderType, amount, depositDeadline, fillDeadline } = request
  const terms = { user, inputToken, outputToken, inputAmount: amount, outputAmount }
  const solver = account.address.toLowerCase() as Address
  const times = { depositDeadline, fillDeadline, outputChainId: request.destinationChainId }
  const quote = { ...terms, ...times, solver, orderType, nonce: 1n }
  const hash = toHex(hasher.hash(quote).digest)
  const signature = signatures.get(solver + hash) ?? (await account.sign?.({ hash }))
  if (signature !== undefined) signatures.set(solver + hash, signature)
  const texts = { inputAmount: String(amount), outputAmount: String(outputAmount), nonce: '1' }
  return { quote: { ...quote, ...texts, orderType: ORDER_TYPES.indexOf(orderType) }, signature }
}

const sessionOf = (address: Address) => `session of ${address}`

interface Opened {
  /** The solver with this index has offers that the contract refuses. */
  readonly refused?: number
  /** The session of the solver with this index has ended. */
  readonly gone?: number
  /** How long the start of a round takes. Others wait for it, and start in later turns of the event loop. */
  readonly startMs?: number
  readonly maxQuoteFanOut?: number
  /** QUOTE_SOFT_TIMEOUT_MS. */
  readonly softMs?: number
  /** Parts in place of the usual ones. */
  readonly parts?: Partial<Pick<AuctionContext, 'rules' | 'log'>> & {
    readonly recordOffer?: AuctionContext['usedNonces']['recordOffer']
  }
}

/** An auction of solvers with sessions, at most seven. Its clock is the test's. */
export function openSessionAuction(
  behaviours: Behaviour[],
  { refused = -1, gone, startMs = 0, maxQuoteFanOut = 10, softMs = 0, parts = {} }: Opened = {},
) {
  const clock = createManualClock()
  const keys = addresses.slice(0, behaviours.length).map((address) => ({ chainId: 1, address }))
  const solvers = keys.map((key, index): Solver => {
    const session = index === gone ? {} : { session: { id: sessionOf(key.address) } }
    return { ...registered(1), ...key, endpointUrl: NO_ENDPOINT, ...session }
  })
  /** The ids under which each solver was asked, and the results that it got. */
  const asked = solvers.map((): (string | undefined)[] => [])
  const reports: { index: number; id: string; result: SessionResult }[] = []
  const verifyDeposit = async ({ quote }: SignedQuote) =>
    quote.solver === addresses[refused]
      ? ({ kind: 'rejected', error: 'NonceAlreadyUsed' } as const)
      : ({ kind: 'accepted' } as const)
  const metrics = createMetrics()
  const { recordOffer = () => {}, ...rest } = parts
  const { auction, circuitStateOf, close } = openAuction(
    contextOf({
      ...rest,
      metrics,
      config: { quoteTimeoutMs: TIMEOUT_MS, quoteSoftTimeoutMs: softMs, maxQuoteFanOut },
      chains: new Map([[1, { quoteHasher: () => hasher, isNonceUsed: async () => false, verifyDeposit }]]),
      directory: {
        find: () => undefined,
        registered: () => solvers,
        reachable() {
          clock.standStill(startMs)
          return solvers
        },
      },
      usedNonces: { isUsed: () => false, recordOffer, setUsed() {} },
      sessions: {
        requestQuote(solver, solverRequest, signal, call) {
          const index = addresses.indexOf(solver.address)
          const [account, behaviour] = [accounts[index], behaviours[index]]
          if (solver.session === undefined || !account || !behaviour) return sessionEnded(call)
          asked[index]?.push(call?.quoteId)
          call?.onSent?.()
          const cut = new Promise<SolverReply>((resolve) =>
            signal.addEventListener('abort', () => resolve({ kind: 'cancelled' })),
          )
          return Promise.race([behaviour(account, solverRequest), cut]).finally(() => call?.onEnd?.())
        },
        reportResult({ session }, id, result) {
          reports.push({ index: solvers.findIndex((each) => each.session?.id === session?.id), id, result })
        },
      },
      stores: {
        solverHours: { save: async () => {}, readHours: async () => [], removeOldest: async () => false },
        quoteRecords: undefined,
        recordKey: Buffer.alloc(16),
      },
      clock,
    }),
  )
  onTestFinished(close)

  return {
    clock,
    asked,
    reports,
    /** The number of quotes with this outcome. */
    async counted(outcome: string) {
      const { values } = await metrics.quotes.get()
      return values.find(({ labels }) => labels.outcome === outcome)?.value
    },
    circuitOf: (index: number) => circuitStateOf({ chainId: 1, address: addresses[index] as Address }),
    /** Asks for a quote from this address, and lets time pass until the answer. @returns it, and the offering solvers' indices */
    async quote(
      changes: Partial<QuoteRequest> = {},
      from = '10.0.0.1',
      { timeoutMs, ...options }: RoundOptions & { readonly timeoutMs?: number } = {},
    ) {
      const call = { client: identifyClient(from), signal: new AbortController().signal, timeoutMs }
      let isAnswered = false
      const began = clock.monotonic()
      const round = auction.runRound({ ...exactInput, ...changes }, call, options)
      void round.then(() => (isAnswered = true))
      // A signature takes turns of the event loop, and no time.
      while (!isAnswered) await clock.advance(1)
      const answer = await round
      const offers = answer.offers.map(({ quote }) => addresses.indexOf(quote.solver))
      return { ...answer, by: offers, tookMs: clock.monotonic() - began }
    },
  }
}
