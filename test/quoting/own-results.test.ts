import { expect, test, vi } from 'vitest'
import type { QuoteRecord } from '../../src/domain/quote-record.js'
import { createOwnResultReads } from '../../src/quoting/own-result-reads.js'
import { createOwnResults } from '../../src/quoting/own-results.js'
import { createPagePositions } from '../../src/quoting/page-positions.js'
import { createQuoteIds } from '../../src/quoting/quote-ids.js'
import { type QuoteTrace, toQuoteRecord } from '../../src/quoting/quote-trace.js'
import { listRecords } from '../../src/store/quote-record-pages.js'
import type { StoredQuoteRecord } from '../../src/store/quote-record-store.js'
import { deferred } from '../support/deferred.js'
import { sampleTrace, signed, solverAddress } from './sample-trace.js'

const KEY = Buffer.alloc(16, 7)
const quoteIds = createQuoteIds(KEY)
const [own, other] = [solverAddress(1), solverAddress(2)]
const FILTER = { chainId: 1, solver: own, since: 0, after: undefined, limit: 3 }

/** The trace of a quote in which both solvers made an offer. */
function traceOf(number: number): QuoteTrace {
  const offers = [signed(2, 30n), signed(1, 20n)]
  return sampleTrace({
    quoteId: quoteIds.create(),
    requestedAt: 1_799_999_700_000 + number,
    ranked: offers,
    attempts: offers.map((offer) => ({
      solver: offer.quote.solver,
      result: { kind: 'quoted', offer },
      tookMs: 1,
    })),
    solvers: [other, own],
  })
}

function toStored(record: QuoteRecord): StoredQuoteRecord {
  return { quoteId: record.quoteId, requestedAt: record.requestedAt, record: JSON.stringify(record) }
}

const store = (records: readonly StoredQuoteRecord[]) => ({
  list: async (filter: Parameters<typeof listRecords>[1]) => listRecords(records, filter),
})

test('waiting and stored records are in one list, each once, also one that is written during the read', async () => {
  const traces = [5, 4, 3, 2, 1, 0].map(traceOf)
  const records = traces.map((trace) => toStored(toQuoteRecord(trace)))
  const ids = traces.map(({ quoteId }) => quoteIds.forSolvers(quoteId, 2)[1])
  // The first two wait, the third is in both places, the others are stored.
  const list = createOwnResults({
    store: store(records.slice(2)),
    writer: { waiting: () => records.slice(0, 3) },
    quoteIds,
    now: () => 0,
  })
  const first = await list(FILTER)
  const second = await list({ ...FILTER, after: first.next })
  expect([first, second].map(({ results }) => results.map(({ quoteId }) => quoteId))).toEqual([
    ids.slice(0, 3),
    ids.slice(3),
  ])
  expect(second.next).toBeUndefined()
})

test('a result has no id when its record does not have the index of the request', async () => {
  const { solvers, ...record } = toQuoteRecord(traceOf(1))
  const old = { ...record, solvers: solvers.map(({ index, ...each }) => each) }
  const list = createOwnResults({
    store: store([toStored(old)]),
    writer: { waiting: () => [] },
    quoteIds,
    now: () => 0,
  })
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
  const strangers = Array.from({ length: 32 }, (_, number) => 100 + number)
  const reads = strangers.map(start)
  await expect(start(100)).rejects.toMatchObject({ reason: 'RATE_LIMITED', retryAfterSeconds: 1 })
  await expect(start(99)).rejects.toMatchObject({ reason: 'RATE_LIMITED' })
  // The registered solver waits for none of them.
  reads.push(start(1))
  await expect(start(1)).rejects.toMatchObject({ reason: 'RATE_LIMITED' })
  await expect.poll(() => underWay).toEqual([solverAddress(100), own])
  gate.open()
  await Promise.all(reads)
  await start(99)
  expect(underWay.length).toBe(34)
})

test('records that wait are parsed only as far as a page needs them', async () => {
  const waiting = Array.from({ length: 1000 }, (_, number) => toStored(toQuoteRecord(traceOf(number))))
  const list = createOwnResults({
    store: store([]),
    writer: { waiting: () => waiting },
    quoteIds,
    now: () => 0,
  })
  const newestFirst = waiting.toReversed().map(({ requestedAt }) => requestedAt)
  const parse = vi.spyOn(JSON, 'parse')
  const first = await list(FILTER)
  expect(first.results.map(({ requestedAt }) => requestedAt)).toEqual(newestFirst.slice(0, 3))
  const second = await list({ ...FILTER, after: first.next })
  expect(second.results.map(({ requestedAt }) => requestedAt)).toEqual(newestFirst.slice(3, 6))
  expect(parse).toHaveBeenCalledTimes(8)
  parse.mockRestore()
})
