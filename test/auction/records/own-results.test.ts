import { expect, onTestFinished, test } from 'vitest'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import type { QuoteRecord } from '../../../packages/protocol/src/quotes/quote-record.js'
import { createQuoteIds } from '../../../src/auction/quote-ids.js'
import {
  createOwnResultReads,
  createOwnResults,
  type OwnResultPage,
} from '../../../src/auction/records/own-results.js'
import { createPagePositions } from '../../../src/auction/records/page-positions.js'
import { createQuoteRecordWriter, toQuoteRecord } from '../../../src/auction/records/quote-record-writer.js'
import type { EndedRound } from '../../../src/auction/sinks.js'
import { openQuoteRecordFile } from '../../../src/store/records/quote-record-file.js'
import type { StoredQuoteRecord } from '../../../src/store/records/quote-record-store.js'
import { createLog } from '../../../src/telemetry/log.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { storedRecord } from '../../support/databases/stored-record.js'
import { deferred } from '../../support/deferred.js'
import { contextOf } from '../context.js'
import { sampleRound, signed, solverAddress } from './sample-round.js'

const KEY = Buffer.alloc(16, 7)
const quoteIds = createQuoteIds(KEY)
const [own, other] = [solverAddress(1), solverAddress(2)]
const FILTER = { chainId: 1, solver: own, since: 0, after: undefined, limit: 3 }

/** A quote in which both solvers made an offer. */
function roundOf(number: number): EndedRound {
  const offers = [signed(2, 30n), signed(1, 20n)]
  return sampleRound({
    quoteId: quoteIds.create(),
    requestedAt: 1_799_999_700_000 + number,
    attempts: offers.map((offer) => ({
      solver: offer.quote.solver,
      result: { kind: 'quoted', offer },
      tookMs: 1,
    })),
    quoteIds: new Map([other, own].map((solver) => [solver, ''])),
  })
}

function toStored(record: QuoteRecord): StoredQuoteRecord {
  const { quoteId, requestedAt } = record
  return storedRecord({ quoteId, requestedAt, record: JSON.stringify(record) })
}

/** The lists over records in memory, whose writes a test can have fail. */
async function open() {
  const store = await openQuoteRecordFile(':memory:', 2 ** 24, createLog('silent'))
  onTestFinished(store.close)
  const database = { isAway: false }
  const writer = createQuoteRecordWriter(contextOf({ metrics: createMetrics(), log: createLog('silent') }), {
    async save(records) {
      if (database.isAway) throw new ServiceError('DATABASE_UNAVAILABLE', 'Away.')
      return store.save(records)
    },
  })
  onTestFinished(writer.close)
  const list = createOwnResults(store, writer, quoteIds, () => 0)
  return { store, database, writer, list }
}

const idOf = ({ quoteId }: EndedRound) => quoteIds.forSolvers(quoteId, 2)[1]
const idsOf = ({ results }: OwnResultPage) => results.map(({ quoteId }) => quoteId)

test('records that wait are in the pages of a list, newest first, each once', async () => {
  const { writer, list } = await open()
  const traces = [4, 3, 2, 1, 0].map(roundOf)
  for (const trace of traces.slice(2)) writer.add(trace)
  await writer.flush()
  for (const trace of traces.slice(0, 2)) writer.add(trace)
  const first = await list(FILTER)
  const second = await list({ ...FILTER, after: first.next })
  expect([first, second].map(idsOf)).toEqual([traces.slice(0, 3).map(idOf), traces.slice(3).map(idOf)])
  expect(second.next).toBeUndefined()
})

test('a database that takes no records lists those before, and later the others', async () => {
  const { writer, database, list } = await open()
  const [newer, older] = [roundOf(1), roundOf(0)]
  writer.add(older)
  expect(idsOf(await list(FILTER))).toEqual([idOf(older)])
  database.isAway = true
  writer.add(newer)
  expect(idsOf(await list(FILTER))).toEqual([idOf(older)])
  database.isAway = false
  expect(idsOf(await list(FILTER))).toEqual([newer, older].map(idOf))
})

test('a result has no id when its record does not have the index of the request', async () => {
  const { solvers, ...record } = toQuoteRecord(roundOf(1))
  const old = { ...record, solvers: solvers.map(({ index, ...each }) => each) }
  const { store, list } = await open()
  await store.save([toStored(old)])
  const { results } = await list(FILTER)
  expect(results).toMatchObject([{ result: { solver: own, rank: 2 }, bestAmount: undefined }])
  expect(results[0]?.quoteId).toBeUndefined()
})

test('a page token is valid only for its chain, its solver and its instance', () => {
  const positions = createPagePositions(KEY)
  const position = { requestedAt: 1_799_999_700_123, quoteId: quoteIds.create() }
  const token = positions.seal(position, { chainId: 1, address: own })
  expect(positions.open(token, { chainId: 1, address: own })).toEqual(position)
  expect(positions.open(token, { chainId: 2, address: own })).toBeUndefined()
  expect(positions.open(token, { chainId: 1, address: other })).toBeUndefined()
  expect(createPagePositions(Buffer.alloc(16, 8)).open(token, { chainId: 1, address: own })).toBeUndefined()
  const changed = `${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`
  for (const wrong of ['', `${token} `, token.slice(4), changed, 'ü'.repeat(59)])
    expect(positions.open(wrong, { chainId: 1, address: own })).toBeUndefined()
})

test('one read of each group is under way, and one of each solver; too many of unregistered solvers are refused', async () => {
  const run = createOwnResultReads(({ address }) => address === own)
  const gate = deferred()
  const underWay: string[] = []
  const keyOf = (number: number) => ({ chainId: 1, address: solverAddress(number) })
  const start = (number: number) =>
    run(keyOf(number), async () => {
      underWay.push(solverAddress(number))
      await gate.opened
    })
  const reads = [start(100)]
  await expect(start(99)).rejects.toMatchObject({ reason: 'RATE_LIMITED', retryAfterSeconds: 1 })
  // The registered solver does not wait for it.
  reads.push(start(1))
  await expect(start(1)).rejects.toMatchObject({ reason: 'RATE_LIMITED' })
  await expect.poll(() => underWay).toEqual([solverAddress(100), own])
  gate.open()
  await Promise.all(reads)
  await start(99)
  expect(underWay.length).toBe(3)
})
