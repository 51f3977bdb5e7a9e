import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { QuoteHasher } from '../../packages/protocol/src/signing/typed-data.js'
import { createAuction } from '../../src/auction/auction.js'
import { createQuoteIds } from '../../src/auction/quote-ids.js'
import { THIS_PROCESS } from '../../src/clients/client-id.js'
import { RequestSlots } from '../../src/solvers/transport/request-slots.js'
import { Standings } from '../../src/standing/standing.js'
import { only } from '../support/only.js'
import { exactInput } from '../support/solvers/sample-quotes.js'
import { contextOf } from './context.js'
import { askedSolver } from './played-round.js'
import { decline, offer, openSessionAuction } from './session-auction.js'

const broken = () => {
  throw new Error('broken')
}

/** A log, and what it has at the level of errors. */
function listen() {
  const errors: { solver?: string; msg: string }[] = []
  return { errors, log: pino({ level: 'error' }, { write: (line) => void errors.push(JSON.parse(line)) }) }
}

test('a part that hears of rounds and throws is logged, and all others hear of them', async () => {
  const { errors, log } = listen()
  const opened = openSessionAuction([offer, decline], { parts: { log, recordOffer: broken } })
  const { by, error } = await opened.quote()
  expect([by, error]).toEqual([[0], undefined])
  expect(opened.reports.map(({ result }) => result.outcome).sort()).toEqual(['DECLINED', 'QUOTED'])
  expect(errors).toHaveLength(1)
})

test('what throws for the best offer of a round is logged, and the round goes on', async () => {
  const { errors, log } = listen()
  const { quote } = openSessionAuction([offer], { parts: { log } })
  expect((await quote({}, undefined, { onBest: broken })).by).toEqual([0])
  expect(errors).toHaveLength(1)
})

test('a request whose check throws has failed, which is logged once, and the offers of others count', async () => {
  const { errors, log } = listen()
  let checks = 0
  const violationOf = () => (checks++ === 0 ? broken() : undefined)
  const opened = openSessionAuction([offer, offer], {
    parts: { log, rules: { canCheck: () => true, violationOf } },
  })
  const { by, counts } = await opened.quote()
  expect([by.length, counts.quoted, counts.failed]).toEqual([1, 1, 1])
  expect(errors).toMatchObject([{ solver: expect.stringMatching(/^0x/) }])
  expect((await opened.quote()).by).toHaveLength(2)
})

test.each([
  ['before its connection has ended', false],
  ['after its connection has ended', true],
])('a request that throws %s gives its slot back once', async (_what, hasEnded) => {
  const { errors, log } = listen()
  const slots = new RequestSlots(2)
  slots.tryTake()
  const chains = new Map([[1, { quoteHasher: () => only<QuoteHasher>({}) }]])
  const context = contextOf({ log, chains, directory: { registered: () => [] } })
  const auction = createAuction(context, {
    choice: {
      of: () => ({ asked: [askedSolver(1, 'none', slots)], busy: 0, notAsked: 0 }),
      notAskedReason: () => undefined,
    },
    standings: new Standings(context.clock.monotonic, context.log),
    http: {
      async requestQuote(_solver, _request, _signal, call) {
        if (hasEnded) call.onEnd?.()
        return broken()
      },
    },
    quoteIds: createQuoteIds(Buffer.alloc(16)),
    sinks: [],
  })
  const call = { client: THIS_PROCESS, signal: new AbortController().signal, timeoutMs: undefined }
  const { counts } = await auction.runRound(exactInput, call)
  expect([counts.failed, errors.length]).toEqual([1, 1])
  expect([slots.tryTake(), slots.tryTake()]).toEqual([true, false])
})
