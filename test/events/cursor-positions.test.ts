import { expect, test, vi } from 'vitest'
import { createConfirmations } from '../../src/events/cursor-positions.js'
import type { Entry } from '../../src/events/tail-buffer.js'
import { settled } from '../store/events/event-samples.js'
import { settle } from './hub-harness.js'

const cursorAt = (sequence: number) => `log.${sequence}.digest`

/** Confirmations over a log of a thousand entries, whose reads wait until the test runs them. */
function openConfirmations() {
  const waiting: { readonly sequence: number; open(): void; fail(error: Error): void }[] = []
  const readEntry = vi.fn(async (sequence: number): Promise<Entry | undefined> => {
    await new Promise<void>((open, fail) => waiting.push({ sequence, open, fail }))
    const { event } = settled(1, sequence, 0)
    return sequence > 1000 ? undefined : { sequence, event, cursor: cursorAt(sequence) }
  })
  const confirmations = createConfirmations(readEntry, (read) => read())
  /** Runs one read at a time. @returns the sequences in their order */
  async function passAll(): Promise<number[]> {
    const passed: number[] = []
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      passed.push(next.sequence)
      next.open()
      await settle()
    }
    return passed
  }
  return { confirmations, readEntry, waiting, passAll }
}

test('a cursor is confirmed by the entry that has it', async () => {
  const { confirmations, passAll } = openConfirmations()
  const confirmed = confirmations.confirm(cursorAt(7), 7)
  expect(confirmations.has(cursorAt(7))).toBe(false)
  await passAll()
  await confirmed
  expect(confirmations.has(cursorAt(7))).toBe(true)
  confirmations.clear()
  expect(confirmations.has(cursorAt(7))).toBe(false)
})

test.each([
  ['a made-up cursor', 'log.7.madeup', 7],
  ['a cursor of an entry that the log does not have', cursorAt(1001), 1001],
])('%s is not confirmed', async (_which, cursor, sequence) => {
  const { confirmations, passAll } = openConfirmations()
  const answered = confirmations.confirm(cursor, sequence)
  await passAll()
  await answered
  expect(confirmations.has(cursor)).toBe(false)
})

test('a read that began in an earlier history confirms nothing in the next one', async () => {
  const { confirmations, passAll } = openConfirmations()
  const answered = confirmations.confirm(cursorAt(7), 7)
  confirmations.clear()
  await passAll()
  await answered
  expect(confirmations.has(cursorAt(7))).toBe(false)
})
