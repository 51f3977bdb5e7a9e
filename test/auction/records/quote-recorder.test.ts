import { setImmediate as nextTurn } from 'node:timers/promises'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import { createQuoteIds } from '../../../src/auction/quote-ids.js'
import { createQuoteRecorder } from '../../../src/auction/records/quote-recorder.js'
import type { QuoteRecordStore } from '../../../src/store/records/quote-record-store.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { contextOf } from '../context.js'
import { sampleRound, solverAddress } from './sample-round.js'

const HOUR_MS = 3_600_000
const NOW = 1_800_000_000_000
const quoteIds = createQuoteIds(Buffer.alloc(16))

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A recorder over a store whose writes a test can block, or cause to fail. */
async function openRecorder() {
  const stored = new Map<string, string>()
  const batches: number[] = []
  const pruned: number[] = []
  const disk = { write: async () => {}, old: 0 }
  const metrics = createMetrics()
  const context = contextOf({
    config: { quoteRecordHours: 2 },
    directory: { find: () => undefined },
    clock: { now: () => NOW },
    provenTime: () => NOW,
    metrics,
    log: pino({ level: 'silent' }),
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
  return { recorder, metrics, note, stored, batches, pruned, disk, counted }
}

describe('records', () => {
  test('are written together in batches after a moment', async () => {
    const { note, stored, batches, counted } = await openRecorder()
    note(120)
    expect(stored.size).toBe(0)
    await vi.advanceTimersByTimeAsync(1000)
    expect(batches).toEqual([50, 50, 20])
    expect([stored.size, await counted('written')]).toEqual([120, 120])
  })

  test('are written after others that are being written', async () => {
    const { note, stored, disk } = await openRecorder()
    let release = () => {}
    disk.write = () =>
      new Promise((resolve) => {
        release = resolve
      })
    note(1)
    await vi.advanceTimersByTimeAsync(1000)
    note(1, 1)
    disk.write = async () => {}
    release()
    await vi.advanceTimersByTimeAsync(1000)
    expect([...stored.keys()]).toEqual(['0', '1'])
  })

  test('can be read before and while they are written', async () => {
    const { recorder, note, disk } = await openRecorder()
    disk.write = () => new Promise(() => {})
    note(1)
    expect((await recorder.read(1, '0'))?.quoteId).toBe('0')
    await vi.advanceTimersByTimeAsync(1000)
    expect((await recorder.read(1, '0'))?.quoteId).toBe('0')
  })

  test('are found only on their own chain and until they are too old', async () => {
    const { recorder } = await openRecorder()
    const [young, old] = [quoteIds.create(), quoteIds.create()]
    for (const [quoteId, ageMs] of [
      [young, 2 * HOUR_MS],
      [old, 2 * HOUR_MS + 1],
    ] as const) {
      const asked = [solverAddress(1)]
      const ids = new Map(asked.map((solver) => [solver, '']))
      recorder.record(sampleRound({ quoteId, requestedAt: NOW - ageMs, quoteIds: ids, probed: asked }))
    }
    for (const idOf of [
      (quoteId: string) => quoteId,
      (quoteId: string) => quoteIds.forSolvers(quoteId, 1)[0] ?? '',
    ]) {
      expect((await recorder.read(1, idOf(young)))?.quoteId).toBe(idOf(young))
      expect(await recorder.read(2, idOf(young))).toBeUndefined()
      expect(await recorder.read(1, idOf(old))).toBeUndefined()
    }
  })

  test('are all written when the recorder is closed', async () => {
    const { recorder, note, stored } = await openRecorder()
    note(51)
    await recorder.close()
    expect(stored.size).toBe(51)
  })

  test('cause no empty batch when they fill batches exactly', async () => {
    const { note, batches, counted } = await openRecorder()
    note(100)
    await vi.advanceTimersByTimeAsync(2000)
    expect(batches).toEqual([50, 50])
    expect([await counted('written'), await counted('dropped')]).toEqual([100, 0])
  })

  test('are removed in parts when they are too old, after the start and every ten minutes', async () => {
    const { pruned, disk } = await openRecorder()
    await vi.advanceTimersByTimeAsync(1)
    expect(pruned).toEqual([NOW - 2 * HOUR_MS])
    disk.old = 2
    await vi.advanceTimersByTimeAsync(10 * 60_000)
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    expect(pruned).toEqual(Array.from({ length: 4 }, () => NOW - 2 * HOUR_MS))
  })

  test('are measured after each write', async () => {
    const { note, metrics } = await openRecorder()
    note(3)
    await vi.advanceTimersByTimeAsync(1000)
    expect((await metrics.quoteRecordBytes.get()).values[0]?.value).toBe(21)
  })

  test('are no longer removed after the recorder is closed', async () => {
    const { recorder, pruned, disk } = await openRecorder()
    disk.old = Number.POSITIVE_INFINITY
    await vi.advanceTimersByTimeAsync(10 * 60_000)
    await recorder.close()
    const { length } = pruned
    await vi.advanceTimersByTimeAsync(20 * 60_000)
    expect(pruned.length - length).toBeLessThanOrEqual(1)
  })
})

describe('a database that fails', () => {
  test('loses only the records of that time', async () => {
    const { note, stored, disk, counted } = await openRecorder()
    disk.write = () => Promise.reject(new Error('disk full'))
    note(3)
    await vi.advanceTimersByTimeAsync(1000)
    disk.write = async () => {}
    note(2, 3)
    await vi.advanceTimersByTimeAsync(1000)
    expect([...stored.keys()]).toEqual(['3', '4'])
    expect([await counted('dropped'), await counted('written')]).toEqual([3, 2])
  })

  test('keeps a bounded number of traces while a write does not end', async () => {
    const { note, disk, counted } = await openRecorder()
    disk.write = () => new Promise(() => {})
    note(50)
    await vi.advanceTimersByTimeAsync(1000)
    note(10_001, 50)
    expect(await counted('dropped')).toBe(1)
  })
})

describe('a database that cannot be reached', () => {
  const away = async () => {
    throw new ServiceError('DATABASE_UNAVAILABLE', 'Away.')
  }

  test('loses no record: records wait, and can be read at that time', async () => {
    const { recorder, note, stored, disk, counted } = await openRecorder()
    disk.write = away
    note(120)
    await vi.advanceTimersByTimeAsync(5000)
    expect([stored.size, await counted('dropped')]).toEqual([0, 0])
    expect(await recorder.read(1, '7')).toMatchObject({ quoteId: '7' })
    disk.write = async () => {}
    await vi.advanceTimersByTimeAsync(1000)
    expect([stored.size, await counted('written')]).toEqual([120, 120])
  })

  test('does not delay a close, which drops and counts the records that wait', async () => {
    const { recorder, note, batches, disk, counted } = await openRecorder()
    disk.write = away
    note(120)
    await recorder.close()
    expect([batches.length, await counted('dropped')]).toEqual([1, 120])
  })

  test('is not used again after the recorder is closed, also during a write', async () => {
    const { recorder, note, batches, disk, counted } = await openRecorder()
    let fail = () => {}
    disk.write = () =>
      new Promise((_resolve, reject) => {
        fail = () => reject(new ServiceError('DATABASE_UNAVAILABLE', 'Away.'))
      })
    note(3)
    await vi.advanceTimersByTimeAsync(1000)
    expect(batches).toEqual([3])
    const closing = recorder.close()
    const failFirst = fail
    disk.write = away
    failFirst()
    await closing
    await vi.advanceTimersByTimeAsync(5000)
    expect([batches, await counted('dropped'), vi.getTimerCount()]).toEqual([[3, 3], 3, 0])
  })
})

describe('a recorder that was closed', () => {
  test('drops later traces and starts nothing', async () => {
    const { recorder, note, batches, counted } = await openRecorder()
    await recorder.close()
    note(2)
    await vi.advanceTimersByTimeAsync(5000)
    expect([batches, await counted('dropped'), vi.getTimerCount()]).toEqual([[], 2, 0])
  })

  test('has waited for writes and removals', async () => {
    const { recorder, note, stored, disk } = await openRecorder()
    let finish = () => {}
    disk.write = () =>
      new Promise((resolve) => {
        finish = resolve
      })
    note(1)
    await vi.advanceTimersByTimeAsync(1000)
    let isClosed = false
    const closing = recorder.close().then(() => {
      isClosed = true
    })
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    expect(isClosed).toBe(false)
    finish()
    await closing
    expect(stored.size).toBe(1)
  })

  test('counts a dropped record once, also when it is closed several times', async () => {
    const { recorder, note, batches, disk, counted } = await openRecorder()
    disk.write = () => Promise.reject(new ServiceError('DATABASE_UNAVAILABLE', 'Away.'))
    note(2)
    await recorder.close()
    await recorder.close()
    expect([batches, await counted('dropped')]).toEqual([[2], 2])
  })
})
