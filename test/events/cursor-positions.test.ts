import { expect, test } from 'vitest'
import { THIS_PROCESS } from '../../src/clients/client-id.js'
import { createCursorPositions } from '../../src/events/cursors.js'
import { PublishedLog } from '../../src/events/published-log.js'
import type { Entry } from '../../src/events/tail-buffer.js'
import { settled } from '../store/events/event-samples.js'

const DIGEST = 'digest-1'

/** The positions in a log of a thousand entries, none of which is in memory. A read ends when the test runs it. */
function openPositions() {
  const log = new PublishedLog({ logId: 'log', lastSequence: 1000, prunedSequence: 0 }, () => {})
  const waiting: (() => void)[] = []
  const readEntry = async (_client: unknown, sequence: number): Promise<Entry | undefined> => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    const { event } = settled(1, sequence, 0)
    return sequence === 8 ? undefined : { sequence, event, cursor: cursorAt(sequence) }
  }
  const positions = createCursorPositions(log, 0, readEntry)
  const cursorAt = (sequence: number, digest = DIGEST) => log.cursors.write({ sequence, digest })
  return { positions, cursorAt, passAll: () => waiting.splice(0).forEach((pass) => void pass()) }
}

test('a cursor is found when the entry that has it has been read', async () => {
  const { positions, cursorAt, passAll } = openPositions()
  const confirmed = positions.confirm(cursorAt(7), THIS_PROCESS)
  expect(positions.find(cursorAt(7))).toBeUndefined()
  passAll()
  await confirmed
  expect(positions.find(cursorAt(7))).toEqual({ sequence: 7, cursor: cursorAt(7) })
  positions.startOver(0)
  expect(positions.find(cursorAt(7))).toBeUndefined()
})

test.each([
  ['a made-up cursor', 7, 'madeup-1'],
  ['a cursor of an entry that the log does not have', 8, DIGEST],
])('%s is not found', async (_which, sequence, digest) => {
  const { positions, cursorAt, passAll } = openPositions()
  const answered = positions.confirm(cursorAt(sequence, digest))
  passAll()
  await answered
  expect(positions.find(cursorAt(sequence, digest))).toBeUndefined()
})

test('a read that began in an earlier history confirms nothing in the next one', async () => {
  const { positions, cursorAt, passAll } = openPositions()
  const answered = positions.confirm(cursorAt(7))
  positions.startOver(0)
  passAll()
  await answered
  expect(positions.find(cursorAt(7))).toBeUndefined()
})
