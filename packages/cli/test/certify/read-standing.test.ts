import type { OwnResult } from '@quote-aggregator/client'
import { expect, test } from 'vitest'
import { only } from '../../../../test/support/only.js'
import { judgeStanding } from '../../src/certify/read-standing.js'

/** A result in a pair, with what it says of the standing. */
function result(outputToken: string, standing: Partial<OwnResult['result']>): OwnResult {
  const request = { inputToken: '0xa', outputToken, orderType: 'EXACT_INPUT', amount: 10n }
  return only<OwnResult>({ request, result: standing })
}

const WAITED = { isWaitedFor: true, gapBps: 1 }
const UNWAITED = { isWaitedFor: false, gapBps: 1 }

test.each([
  ['without a result', [], 'pass', 'no result of yours'],
  ['with results of an older instance', [result('0xb', {})], 'pass', 'no result of yours'],
  ['that quotes wait for', [result('0xb', WAITED), result('0xc', WAITED)], 'pass', 'in all of 2 pairs'],
  [
    'that quotes waited for no longer',
    [result('0xb', UNWAITED), result('0xb', WAITED)],
    'warn',
    'in 1 of 1 pairs',
  ],
  ['that is waited for again', [result('0xb', WAITED), result('0xb', UNWAITED)], 'pass', 'in all of 1 pairs'],
  ['without a rank', [result('0xb', { ...WAITED, gapBps: 10_000 })], 'warn', 'no rank in 1 of 1'],
] as const)('of a solver %s, certify says: %s', (_what, results, status, text) => {
  const found = judgeStanding(results)
  expect(found.status).toBe(status)
  expect(found.text).toContain(text)
})
