import { describe, expect, test } from 'vitest'
import { createCursors } from '../../src/events/cursors.js'

const cursors = createCursors('a-Log_1')
const DIGEST = 'aZ09_-bc'
const SEQUENCES = [0, 1, 35, 36, 8192, 2 ** 32, Number.MAX_SAFE_INTEGER]
const POSITIONS = SEQUENCES.flatMap((sequence) => [
  { sequence, digest: DIGEST },
  { sequence, digest: undefined },
])

test.each(POSITIONS)('the cursor of $sequence with the digest $digest needs no escaping', (position) => {
  const cursor = cursors.write(position)
  expect(encodeURIComponent(cursor)).toBe(cursor)
  expect(cursors.read(cursor)).toEqual(position)
})

test.each(['b-Log_1', 'a-Log_', 'a-Log_12'])('cursors of the log %j are not accepted', (logId) => {
  expect(cursors.read(createCursors(logId).write({ sequence: 7, digest: DIGEST }))).toBeUndefined()
})

describe('a cursor is not', () => {
  test.each([
    '',
    'a-Log_1',
    'a-Log_1.',
    'a-Log_1.7.aZ09_-bcd',
    'a-Log_1.7.aZ09_-b+',
    'a-Log_1..aZ09_-bc',
    'a-Log_1.7 ',
    'a-Log_1.7\n',
    'a-Log_1.Z',
    // One more than the largest safe integer, and the longest text that matches the pattern.
    `a-Log_1.${(2 ** 53).toString(36)}`,
    'a-Log_1.zzzzzzzzzzz',
    'a-Log_1.000000000007',
  ])('%j', (text) => {
    expect(cursors.read(text)).toBeUndefined()
  })

  test('very long text', () => {
    expect(createCursors('a'.repeat(100_000)).read(`${'a'.repeat(100_000)}.7`)).toBeUndefined()
  })
})
