import { expect, test } from 'vitest'
import { decline, keepSilent, offer, openSessionAuction, TIMEOUT_MS } from './session-auction.js'

/** A circuit breaker that opens for the first time does so for so long. */
const OPEN_MS = 5000

/** What each result of a first round says of the solver's selection. */
const CHOSEN = { chosenBy: 'ALL', gapBps: undefined, isWaitedFor: true }

/** The results in the order of the solvers, as each sees its own. */
const shown = ({ reports, asked }: ReturnType<typeof openSessionAuction>) =>
  reports
    .toSorted((one, other) => one.index - other.index)
    .map(({ index, id, result }) => [id === asked[index]?.at(-1), result])

test.each(['FIRM', 'INDICATIVE'] as const)(
  'after a %s round, each solver gets its own result by its own id',
  async (kind) => {
    const opened = openSessionAuction([offer, decline, keepSilent])
    const { by } = await opened.quote({ kind })
    expect(by).toEqual([0])
    expect(shown(opened)).toEqual([
      [true, { ...CHOSEN, outcome: 'QUOTED', rank: 1 }],
      [true, { ...CHOSEN, outcome: 'DECLINED' }],
      [true, { ...CHOSEN, outcome: 'LATE' }],
    ])
    expect(new Set(opened.asked.flat()).size).toBe(3)
  },
)

test('a request to a solver without a session and an endpoint fails at once', async () => {
  const { counts } = await openSessionAuction([offer, offer, offer], { gone: 2 }).quote()
  expect([counts.quoted, counts.failed]).toEqual([2, 1])
})

test('the offer that the settlement contract refuses is reported as invalid', async () => {
  const opened = openSessionAuction([offer, offer, offer], { refused: 1 })
  await opened.quote({}, undefined, { verify: 'all' })
  expect(shown(opened)).toEqual([
    [true, { ...CHOSEN, outcome: 'QUOTED', rank: expect.toBeOneOf([1, 2]) }],
    [true, { ...CHOSEN, outcome: 'INVALID', reason: 'NonceAlreadyUsed' }],
    [true, { ...CHOSEN, outcome: 'QUOTED', rank: expect.toBeOneOf([1, 2]) }],
  ])
})

test('a solver that a soft deadline cuts off gets its result when its request has ended', async () => {
  let answerLast = () => {}
  const opened = openSessionAuction([
    offer,
    offer,
    (...asked) => new Promise((resolve) => (answerLast = () => resolve(offer(...asked)))),
  ])
  await opened.quote({}, undefined, { softDeadline: { afterMs: 1, minQuotes: 1, isOwn: false } })
  expect(shown(opened)).toHaveLength(2)
  answerLast()
  await opened.clock.advance(1)
  expect(shown(opened).at(-1)).toEqual([true, { ...CHOSEN, outcome: 'CANCELLED' }])
})

test('a solver whose breaker is open gets its result when its probe ends', async () => {
  const { quote, clock, reports } = openSessionAuction([offer, decline, keepSilent])
  for (let number = 1; number < 10; number++) await quote({}, `10.0.0.${number}`)
  await clock.advance(OPEN_MS)
  await quote({}, '10.0.0.10')
  await clock.advance(TIMEOUT_MS)
  expect(reports.at(-1)).toMatchObject({ index: 2, result: { outcome: 'CIRCUIT_OPEN' } })
})
