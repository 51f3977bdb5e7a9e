import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { openQuoteRecordFile } from '../../src/store/quote-record-file.js'
import { temporaryFile } from './temporary-file.js'

function record(number: number) {
  return { quoteId: String(number), requestedAt: number, record: `{"number":${number}}` }
}

const records = (count: number) => Array.from({ length: count }, (_, index) => record(index))

for (const [kind, path] of [
  ['in memory', () => ':memory:'],
  ['in a file', temporaryFile],
] as const) {
  test(`records are kept ${kind}, and those before a time removed`, async () => {
    const store = openQuoteRecordFile(path())
    onTestFinished(store.close)
    await store.save(records(2500))
    expect(await store.read('7')).toBe(record(7).record)
    expect(await store.read('2500')).toBeUndefined()
    await store.prune(2001)
    expect(await store.read('2000')).toBeUndefined()
    expect(await store.read('2001')).toBe(record(2001).record)
  })
}

test('a file is beside the database, and read again by the next run', async () => {
  const path = temporaryFile()
  const first = openQuoteRecordFile(path)
  await first.save([record(1)])
  await first.close()
  expect([existsSync(path), existsSync(`${path}-quotes`)]).toEqual([false, true])
  const second = openQuoteRecordFile(path)
  onTestFinished(second.close)
  expect(await second.read('1')).toBe(record(1).record)
})

test('a file that is no database fails every call, says which it is, and does no more once it is gone', async () => {
  const path = temporaryFile()
  writeFileSync(`${path}-quotes`, 'this is no database, and long enough to be seen as none'.repeat(20))
  const store = openQuoteRecordFile(path)
  const failure = { message: expect.stringContaining(`DB_PATH is ${path}-quotes`) }
  await expect(store.prune(0)).rejects.toMatchObject(failure)
  await expect(store.read('1')).rejects.toThrow()
  rmSync(`${path}-quotes`)
  await store.save([record(1)])
  expect(await store.read('1')).toBe(record(1).record)
  await store.close()
})
