import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createQuoteIds } from '../../../src/auction/quote-ids.js'
import { createQuoteRecorder } from '../../../src/auction/records/quote-recorder.js'
import type { QuoteRecordStore } from '../../../src/store/records/quote-record-table.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { createManualClock } from '../../support/manual-clock.js'
import { contextOf } from '../context.js'
import { attemptOf, sampleRound } from './sample-round.js'

const HOUR_MS = 3_600_000
const NOW = 1_800_000_000_000
const quoteIds = createQuoteIds(Buffer.alloc(16))

/** A recorder over a store whose writes a test can block, or cause to fail. */
async function openRecorder() {
  const stored = new Map<string, string>()
  const batches: number[] = []
  const pruned: number[] = []
  const disk = { write: async () => {}, old: 0 }
  const clock = createManualClock()
  const metrics = createMetrics()
  const context = contextOf({
    config: { quoteRecordHours: 2 },
    directory: { find: () => undefined },
    clock: { ...clock, now: () => NOW },
    provenTime: () => NOW,
    metrics,
  })
  const store: QuoteRecordStore = {
    list: async () => ({ records: [], next: undefined }),
    async save(records) {
      batches.push(records.length)
      await disk.write()
      for (const { quoteId, record } of records) stored.set(quoteId, record)
    },
    read: async (quoteId) => stored.get(quoteId),
    async pruneSome(before) {
      pruned.push(before)
      await nextTurn()
      return disk.old-- > 0
    },
    usedBytes: async () => 7 * stored.size,
    close: async () => {},
  }
  const recorder = createQuoteRecorder(context, store, quoteIds)
  const counted = async (result: string) => {
    const { values } = await metrics.quoteRecords.get()
    return values.find(({ labels }) => labels.result === result)?.value
  }
  const note = (count: number, from = 0) => {
    for (let number = from; number < from + count; number++)
      recorder.record(sampleRound({ quoteId: String(number), requestedAt: NOW }))
  }
  return { clock, recorder, metrics, note, stored, batches, pruned, disk, counted }
}

describe('records', () => {
  test('can be read before and while they are written', async () => {
    const { clock, recorder, note, disk } = await openRecorder()
    disk.write = () => new Promise(() => {})
    note(1)
    expect((await recorder.read(1, '0'))?.quoteId).toBe('0')
    await clock.advance(1000)
    expect((await recorder.read(1, '0'))?.quoteId).toBe('0')
  })

  test('are found only on their own chain and until they are too old', async () => {
    const { recorder } = await openRecorder()
    const [young, old] = [quoteIds.create(), quoteIds.create()]
    for (const [quoteId, ageMs] of [
      [young, 2 * HOUR_MS],
      [old, 2 * HOUR_MS + 1],
    ] as const) {
      const attempts = [attemptOf(1, { kind: 'late' })]
      recorder.record(sampleRound({ quoteId, requestedAt: NOW - ageMs, attempts }))
    }
    for (const idOf of [(quoteId: string) => quoteId, (quoteId: string) => quoteIds.forSolver(quoteId, 0)]) {
      expect((await recorder.read(1, idOf(young)))?.quoteId).toBe(idOf(young))
      expect(await recorder.read(2, idOf(young))).toBeUndefined()
      expect(await recorder.read(1, idOf(old))).toBeUndefined()
    }
  })

  test('are removed in parts when they are too old, after the start and every ten minutes', async () => {
    const { clock, pruned, disk } = await openRecorder()
    await clock.advance(1)
    expect(pruned).toEqual([NOW - 2 * HOUR_MS])
    disk.old = 2
    await clock.advance(10 * 60_000)
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    expect(pruned).toEqual(Array.from({ length: 4 }, () => NOW - 2 * HOUR_MS))
  })

  test('are measured after each write', async () => {
    const { clock, note, metrics } = await openRecorder()
    note(3)
    await clock.advance(1000)
    expect((await metrics.quoteRecordBytes.get()).values[0]?.value).toBe(21)
  })
})
