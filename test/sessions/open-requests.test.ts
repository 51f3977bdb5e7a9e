import { expect, test, vi } from 'vitest'
import { createOpenRequests } from '../../src/sessions/open-requests.js'

const DECLINED = { kind: 'declined', code: 'OTHER' } as const

test('a session may answer late, as often as waits have ended without its answer, and at most 1,000 times', async () => {
  const requests = createOpenRequests(vi.fn())
  const taken = () => requests.answer('late', DECLINED)
  for (const [waits, lateAnswers] of [
    [0, 0],
    [2, 2],
    [1001, 1000],
  ] as const) {
    for (let wait = 0; wait < waits; wait++) {
      const leaving = new AbortController()
      const reply = requests.ask(leaving.signal, { quoteId: `${wait}` }, () => {})
      leaving.abort()
      expect(await reply).toEqual({ kind: 'cancelled' })
    }
    for (let answer = 0; answer < lateAnswers; answer++) expect(taken()).toBe(true)
    expect(taken()).toBe(false)
  }
})
