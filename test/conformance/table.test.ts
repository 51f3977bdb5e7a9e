import { expect, test } from 'vitest'
import { type JudgedCase, tableOf } from './table.js'

const passed: JudgedCase = { judge: 'one', verdict: { kind: 'passed' } }
const failed = (reason: string): JudgedCase => ({ judge: 'one', verdict: { kind: 'failed', reason } })
const absent: JudgedCase = {
  judge: 'a second',
  verdict: { kind: 'not applicable', reason: 'needs a program' },
}

test('the table counts the cases of each judge, and says why some failed or did not apply', () => {
  expect(tableOf([passed, failed('an answer is wrong'), absent, passed, absent])).toEqual([
    'judge         cases   passed   failed      n/a',
    'one               3        2        1        0',
    '    1 failed: an answer is wrong',
    'a second          2        0        0        2',
    '    2 not applicable: needs a program',
    'all               5        2        1        2',
  ])
})

test('the table shows no more than five different failures of a judge', () => {
  const lines = tableOf(Array.from({ length: 7 }, (_, index) => failed(`answer ${index} is wrong`)))
  expect(lines.filter((line) => line.includes('is wrong'))).toHaveLength(5)
  expect(lines).toContain('    2 other failures')
})
