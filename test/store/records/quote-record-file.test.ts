import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
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

const records = (count: number) => Array.from({ length: count }, (_, index) => record(index))

async function open(path: string, maxBytes = 100 * MB) {
  const store = await openQuoteRecordFile(path, maxBytes, createManualClock(), createLog('silent'))
  onTestFinished(store.close)
  return store
}

for (const [kind, path] of [
  ['in memory', () => ':memory:'],
  ['in a file', temporaryFile],
] as const) {
  test(`records are kept ${kind}, and those before a time are removed`, async () => {
    const store = await open(path())
    await store.save(records(2500))
    expect(await store.read('7')).toBe(record(7).record)
    expect(await store.read('2500')).toBeUndefined()
    while (await store.pruneSome(2001));
    expect(await store.read('2000')).toBeUndefined()
    expect(await store.read('2001')).toBe(record(2001).record)
  })

  test.each([
    ['of 600 bytes', 600, 6000],
    ['of 17 KB', 17_000, 300],
    ['of 36 KB', 36_000, 150],
  ])(`records %s beyond the bound ${kind} remove the oldest ones`, async (_what, length, count) => {
    const dbPath = path()
    const store = await open(dbPath, MB)
    const text = 'x'.repeat(length)
    for (let number = 0; number < count; number += 50)
      await store.save(Array.from({ length: 50 }, (_, index) => record(number + index, text)))
    expect(await store.usedBytes()).toBeLessThanOrEqual(MB)
    if (dbPath !== ':memory:') expect(statSync(`${dbPath}-quotes`).size).toBeLessThan(MB + 50 * 40_000)
    expect(await store.read('0')).toBeUndefined()
    expect(await store.read(String(count - 1))).toBe(text)
    // Most of the allowed size is used.
    const kept = []
    for (let number = 0; number < count; number++) if (await store.read(String(number))) kept.push(number)
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => count - kept.length + index))
    expect(kept.length * length).toBeGreaterThan(MB / 4)
  })
}

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
  for (let part = 0; part < 20; part++)
    await store.save(Array.from({ length: 1000 }, (_, index) => record(1000 * part + index, 'x'.repeat(500))))
  let isDone = false
  const pruning = (async () => {
    while (await store.pruneSome(50_000));
    isDone = true
  })()
  expect(await store.read('100000')).toBe(record(100_000).record)
  expect(isDone).toBe(false)
  await pruning
  expect(await store.read('19999')).toBeUndefined()
})

test('a file is next to the database, and the next run reads it', async () => {
  const path = temporaryFile()
  const first = await open(path)
  await first.save([record(1)])
  await first.close()
  expect([existsSync(path), existsSync(`${path}-quotes`)]).toEqual([false, true])
  const second = await open(path)
  expect(await second.read('1')).toBe(record(1).record)
})

test('a file that is not a database is rejected, with its path', async () => {
  const path = temporaryFile()
  writeFileSync(`${path}-quotes`, 'this is no database, and long enough to be seen as none'.repeat(20))
  const failure = { message: expect.stringContaining(`DB_PATH is ${path}-quotes`) }
  await expect(open(path)).rejects.toMatchObject(failure)
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
