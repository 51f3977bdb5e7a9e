import { pino } from 'pino'
import { type Hex, toHex } from 'viem'
import { type LocalAccount, privateKeyToAccount } from 'viem/accounts'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { type Clock, systemClock } from '../../packages/protocol/src/clock.js'
import { ORDER_TYPES, type QuoteRequest, type SignedQuote } from '../../packages/protocol/src/quotes/quote.js'
import { createQuoteHasher } from '../../packages/protocol/src/signing/typed-data.js'
import { NO_ENDPOINT, type Solver } from '../../packages/protocol/src/solvers/solver.js'
import type { SessionResult } from '../../packages/protocol/src/solvers/solver-result.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import { openAuction } from '../../src/auction/open-auction.js'
import { createResultReports } from '../../src/auction/sinks.js'
import { identifyClient } from '../../src/clients/client-id.js'
import { sessionEnded } from '../../src/sessions/session.js'
import { createEndpointGuard } from '../../src/solvers/transport/endpoint-guard.js'
import type {
  SessionTransport,
  SolverReply,
  SolverRequest,
} from '../../src/solvers/transport/solver-transports.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { solver as registered } from '../solvers/sample-solver.js'
import { eventually } from '../support/eventually.js'
import { createManualClock, type ManualClock } from '../support/manual-clock.js'
import { exactInput } from '../support/solvers/sample-quotes.js'
import { contextOf } from './context.js'
import { attemptOf, sampleRound, signed, solverAddress } from './records/sample-round.js'

const NOW = 1_800_000_000_000
const TIMEOUT_MS = 200
/** A circuit breaker that opens for the first time does so for so long. */
const OPEN_MS = 5000
const word = (value: number) => toHex(value, { size: 32 })
const hasher = createQuoteHasher('Service', {
  settlement: solverAddress(7),
  domainSeparator: word(8),
  depositProxyCodeHash: word(9),
})
const accounts = [1, 2, 3].map((number) => privateKeyToAccount(word(number)))
const addresses = accounts.map(({ address }) => address.toLowerCase() as Address)
const caller = {
  client: identifyClient('10.0.0.1'),
  signal: new AbortController().signal,
  timeoutMs: undefined,
}

/** What the solver with this index does. */
type Behaviour = (account: LocalAccount, asked: SolverRequest) => Promise<SolverReply>

const offer: Behaviour = async (account, { request }) => ({
  kind: 'replied',
  body: await reply(account, request),
})
const decline: Behaviour = async () => ({ kind: 'declined', code: 'AMOUNT_TOO_SMALL' })
const keepSilent: Behaviour = () => new Promise(() => {})

let behaviours: Behaviour[]
/** The ids under which solvers were asked, and the results that they got, by their indices. */
let asked: (string | undefined)[]
let reports: { index: number; id: string; result: SessionResult }[]

beforeEach(() => {
  behaviours = [offer, offer, offer]
  asked = []
  reports = []
})

async function reply(account: LocalAccount, request: QuoteRequest) {
  const { user, inputToken, outputToken, orderType, amount, depositDeadline, fillDeadline } = request
  const terms = {
    user,
    inputToken,
    outputToken,
    inputAmount: amount,
    outputAmount: 5n,
    depositDeadline,
    fillDeadline,
  }
  const solver = account.address.toLowerCase() as Address
  const quote = { ...terms, solver, orderType, outputChainId: request.destinationChainId, nonce: 1n }
  const signature = await account.sign?.({ hash: toHex(hasher.hash(quote).digest) as Hex })
  const texts = { inputAmount: '1000', outputAmount: '5', nonce: '1' }
  return { quote: { ...quote, ...texts, orderType: ORDER_TYPES.indexOf(orderType) }, signature }
}

const sessionOf = (address: Address) => `session of ${address}`

const sessions: SessionTransport = {
  requestQuote(solver, solverRequest, signal, call) {
    const index = addresses.indexOf(solver.address)
    if (solver.session === undefined) return sessionEnded(call)
    asked[index] = call?.quoteId
    call?.onSent?.()
    const answer = behaviours[index]?.(accounts[index] as LocalAccount, solverRequest) ?? decline
    const cut = new Promise<SolverReply>((resolve) =>
      signal.addEventListener('abort', () => resolve({ kind: 'cancelled' })),
    )
    return (Promise.race([answer, cut]) as Promise<SolverReply>).finally(() => call?.onEnd?.())
  },
  reportResult(solver, id, result) {
    reports.push({
      index: addresses.findIndex((address) => solver.session?.id === sessionOf(address)),
      id,
      result,
    })
  },
}

interface Opened {
  /** Its offers are refused by the contract. */
  readonly refused?: number
  /** Its session has ended. */
  readonly gone?: number
  readonly clock?: Clock
}

/** Solvers with sessions, and an auction that asks them. */
function open({ refused, gone, clock = systemClock }: Opened = {}) {
  const solvers = addresses.map((address, index): Solver => {
    const session = index === gone ? {} : { session: { id: sessionOf(address) } }
    return { ...registered(1), address, endpointUrl: NO_ENDPOINT, ...session }
  })
  const opened = openAuction(
    contextOf({
      config: {
        quoteTimeoutMs: TIMEOUT_MS,
        quoteSoftTimeoutMs: 0,
        priceCacheMs: 0,
        maxQuoteFanOut: 10,
        maxConnectionsPerSolver: 8,
        quoteRecordHours: 0,
        production: false,
        defaultDepositWindowSeconds: 300,
        defaultFillWindowSeconds: 5,
        verifyTimeoutMs: 100,
      },
      chains: new Map([
        [
          1,
          {
            quoteHasher: () => hasher,
            quoteTypedData: () => undefined,
            wake: () => undefined,
            isNonceUsed: async () => false,
            verifyDeposit: async ({ quote }: SignedQuote) =>
              quote.solver === addresses[refused ?? -1]
                ? { kind: 'rejected', error: 'NonceAlreadyUsed' }
                : { kind: 'accepted' },
          },
        ],
      ]),
      directory: { find: () => undefined, registered: () => solvers, reachable: () => solvers },
      rules: { canCheck: () => true, violationOf: () => undefined },
      usedNonces: { isUsed: () => false, recordOffer() {}, setUsed() {} },
      endpointGuard: createEndpointGuard({ production: false, allowlist: [] }),
      sessions,
      stores: {
        solverHours: { save: async () => {}, readHours: async () => [], removeOldest: async () => false },
        quoteRecords: undefined,
        recordKey: Buffer.alloc(16),
      },
      provenTime: () => NOW,
      deadlineTime: Date.now,
      clock: { ...clock, now: () => NOW },
      metrics: createMetrics(),
      log: pino({ level: 'silent' }),
    }),
  )
  onTestFinished(opened.close)
  return opened.auction
}

/** Runs a round whose first solver offers: when its offer is read, the time passes that the others have. */
async function runToTimeout(
  auction: ReturnType<typeof open>,
  clock: ManualClock,
  kind: QuoteRequest['kind'],
  address = '10.0.0.1',
) {
  let onBest = () => {}
  const isOffered = new Promise<void>((resolve) => (onBest = resolve))
  const from = { ...caller, client: identifyClient(address) }
  const round = auction.runRound({ ...exactInput, kind }, from, { onBest })
  await isOffered
  await clock.advance(TIMEOUT_MS)
  return round
}

/** Waits until so many results were reported. */
async function reported(count: number): Promise<void> {
  await eventually(
    async () => reports.length,
    (length) => length === count,
  )
}

/** What each result of a first round says of the solver's selection. */
const CHOSEN = { chosenBy: 'ALL', gapBps: undefined, isWaitedFor: true }

/** The results in the order of the solvers, as each sees its own. */
const shown = () =>
  reports
    .toSorted((one, other) => one.index - other.index)
    .map(({ index, id, result }) => [id === asked[index], result])

test.each(['FIRM', 'INDICATIVE'] as const)(
  'after a %s round, each solver gets its own result by its own id',
  async (kind) => {
    behaviours = [offer, decline, keepSilent]
    const clock = createManualClock(NOW)
    const { offers } = await runToTimeout(open({ clock }), clock, kind)
    expect(offers).toHaveLength(1)
    await reported(3)
    expect(shown()).toEqual([
      [true, { ...CHOSEN, outcome: 'QUOTED', rank: 1 }],
      [true, { ...CHOSEN, outcome: 'DECLINED' }],
      [true, { ...CHOSEN, outcome: 'LATE' }],
    ])
    expect(new Set(asked).size).toBe(3)
  },
)

test('a request to a solver without a session and an endpoint fails at once', async () => {
  const { counts } = await open({ gone: 2 }).runRound(exactInput, caller)
  expect([counts.quoted, counts.failed]).toEqual([2, 1])
})

test('the offer that the settlement contract refuses is reported as invalid', async () => {
  const auction = open({ refused: 1 })
  await auction.runRound(exactInput, caller, { verify: 'all' })
  expect(shown()).toEqual([
    [true, { ...CHOSEN, outcome: 'QUOTED', rank: expect.toBeOneOf([1, 2]) }],
    [true, { ...CHOSEN, outcome: 'INVALID', reason: 'NonceAlreadyUsed' }],
    [true, { ...CHOSEN, outcome: 'QUOTED', rank: expect.toBeOneOf([1, 2]) }],
  ])
})

test('a solver that a soft deadline cuts off gets its result when its request has ended', async () => {
  let answerLast = () => {}
  behaviours = [
    offer,
    offer,
    (...asked) => new Promise((resolve) => (answerLast = () => resolve(offer(...asked)))),
  ]
  const auction = open()
  await auction.runRound(exactInput, caller, { softDeadline: { afterMs: 1, minQuotes: 1, isOwn: false } })
  expect(shown()).toHaveLength(2)
  answerLast()
  await reported(3)
  expect(shown().at(-1)).toEqual([true, { ...CHOSEN, outcome: 'CANCELLED' }])
})

test('a solver whose breaker is open gets its result when its probe ends', async () => {
  behaviours = [offer, decline, keepSilent]
  const clock = createManualClock(NOW)
  const auction = open({ clock })
  for (const number of [1, 2, 3, 4]) {
    await runToTimeout(auction, clock, 'FIRM', `10.0.0.${number}`)
    await reported(3 * number)
    if (number === 3) await clock.advance(OPEN_MS)
  }
  expect(reports.at(-1)).toMatchObject({ index: 2, result: { outcome: 'CIRCUIT_OPEN' } })
})

test('a report that fails is logged, and the next solver gets its result; HTTP has no reports', () => {
  const lines: string[] = []
  const reportedOn: (string | undefined)[] = []
  const log = pino({}, { write: (line) => void lines.push(line) })
  const reporting: Pick<SessionTransport, 'reportResult'> = {
    reportResult({ session }) {
      if (session?.id === sessionOf(solverAddress(1))) throw new Error('broken')
      reportedOn.push(session?.id)
    },
  }
  const reports = createResultReports(reporting, log)
  const attempts = [1, 2, 3].map((number) => {
    const address = solverAddress(number)
    const onSession = number === 3 ? undefined : registered(number, { session: { id: sessionOf(address) } })
    const result = { kind: 'quoted', offer: signed(number, 1n) } as const
    return { ...attemptOf(number, result), onSession }
  })
  reports.onAnswer?.(sampleRound({ attempts }))
  expect(reportedOn).toEqual([sessionOf(solverAddress(2))])
  expect(lines).toHaveLength(1)
})
