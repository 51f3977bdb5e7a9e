import { rmSync, statSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { openQuoteRecordFile } from '../../../src/store/records/quote-record-file.js'
import { createLog } from '../../../src/telemetry/log.js'
import { storedRecord } from '../../support/databases/stored-record.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { createManualClock } from '../../support/manual-clock.js'

const MB = 2 ** 20
const OLDEST = 0

function record(number: number, text = `{"number":${number}}`) {
  return storedRecord({ quoteId: String(number), requestedAt: number, record: text })
}

async function open(path: string, maxBytes = 100 * MB) {
  const store = await openQuoteRecordFile(path, maxBytes, createManualClock(), createLog('silent'))
  onTestFinished(store.close)
  return store
}

test.each([
  ['of 600 bytes', 600, 3000],
  ['of 17 KB', 17_000, 300],
  ['of 36 KB', 36_000, 150],
])('records %s beyond the bound of a file remove the oldest ones', async (_what, length, count) => {
  const path = temporaryFile()
  const store = await open(path, MB)
  const text = 'x'.repeat(length)
  for (let number = 0; number < count; number += 50)
    await store.save(Array.from({ length: 50 }, (_, index) => record(number + index, text)))
  const used = await store.usedBytes()
  expect(used).toBeLessThanOrEqual(MB)
  expect(used).toBeGreaterThan(MB / 2)
  expect(statSync(`${path}-quotes`).size).toBeLessThan(MB + 50 * 40_000)
  expect([await store.read('0'), await store.read(String(count - 1))]).toEqual([undefined, text])
})

test('records in memory have 32 MiB at most', async () => {
  const store = await open(':memory:', 100 * MB)
  for (let number = 0; number < 40; number++) await store.save([record(number, 'x'.repeat(MB))])
  expect(await store.usedBytes()).toBeLessThanOrEqual(32 * MB)
  expect(await store.usedBytes()).toBeGreaterThan(16 * MB)
})

test('records of a file whose bound was lowered are removed in parts', async () => {
  const path = temporaryFile()
  const first = await open(path, 100 * MB)
  for (let part = 0; part < 30; part++)
    await first.save(Array.from({ length: 50 }, (_, index) => record(50 * part + index, 'x'.repeat(2000))))
  await first.close()
  const store = await open(path, MB)
  expect(await store.usedBytes()).toBeGreaterThan(2 * MB)
  let parts = 0
  while (await store.pruneSome(OLDEST)) parts++
  expect(parts).toBeGreaterThan(10)
  expect(await store.usedBytes()).toBeLessThanOrEqual(MB)
  expect([await store.read('0'), (await store.read('1499'))?.length]).toEqual([undefined, 2000])
})

test('a record is read while many old ones are removed', async () => {
  const store = await open(temporaryFile())
  await store.save([record(100_000)])
  for (let part = 0; part < 5; part++)
    await store.save(Array.from({ length: 1000 }, (_, index) => record(1000 * part + index, 'x'.repeat(500))))
  let isDone = false
  const pruning = (async () => {
    while (await store.pruneSome(50_000));
    isDone = true
  })()
  expect(await store.read('100000')).toBe(record(100_000).record)
  expect(isDone).toBe(false)
  await pruning
  expect(await store.read('4999')).toBeUndefined()
})

test('a file that is deleted fails each call, until the next start makes a new one', async () => {
  const path = temporaryFile()
  const store = await open(path)
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}-quotes${end}`, { force: true })
  const failure = {
    reason: 'DATABASE_UNAVAILABLE',
    cause: { message: expect.stringContaining('was deleted') },
  }
  await expect(store.save([record(1)])).rejects.toMatchObject(failure)
  await store.close()
  const next = await open(path)
  await next.save([record(1)])
  expect(await next.read('1')).toBe(record(1).record)
})
