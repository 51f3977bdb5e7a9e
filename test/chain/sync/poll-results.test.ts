import { describe, expect, it } from 'vitest'
import { InconsistentAnswerError } from '../../../packages/protocol/src/node/parse-blocks.js'
import { EventSinkError } from '../../../src/chain/event-sink.js'
import type { ChainSyncContext } from '../../../src/chain/sync/context.js'
import { createPollResults } from '../../../src/chain/sync/poll-results.js'
import { backoffMs } from '../../../src/chain/sync/poll-schedule.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { createManualClock } from '../../support/manual-clock.js'
import { only } from '../../support/only.js'

const ODD = new InconsistentAnswerError('a log has no valid data', 'logs[2].data')

function createTestResults() {
  const clock = createManualClock()
  const lines: object[] = []
  const notes: string[] = []
  const log = {
    error: (fields: object, text: string) => lines.push({ ...fields, text }),
    info: (_fields: object, text: string) => notes.push(text),
    warn: (_fields: object, text: string) => notes.push(text),
  }
  const config = { chainId: 1, pollIntervalMs: 1000 }
  const parts = { config, rpc: { endpoints: [{}] }, metrics: createMetrics(), clock, log }
  const results = createPollResults(only<ChainSyncContext>(parts))
  return { clock, lines, notes, ...results }
}

it('a block that cannot be read for a minute is named with the member and the endpoint, once', async () => {
  const { clock, lines, failed, unread } = createTestResults()
  const fail = () => failed(ODD, { block: 7, endpoint: 'node.example' })
  const named = {
    block: 7,
    member: 'logs[2].data',
    endpoint: 'node.example',
    reason: 'a log has no valid data',
  }
  fail()
  await clock.advance(59_999)
  fail()
  expect([unread(), lines.length]).toEqual([undefined, 1])
  await clock.advance(1)
  fail()
  fail()
  expect(unread()).toEqual(named)
  expect(lines.slice(1)).toEqual([
    { chainId: 1, ...named, text: expect.stringContaining('a block cannot be read') },
  ])
})

it('a block is not named when it was read meanwhile, when another one fails, or when the database fails', async () => {
  const { clock, failed, succeeded, unread } = createTestResults()
  const passes = async (error: Error, block: number | undefined) => {
    failed(error, { block, endpoint: 'node.example' })
    await clock.advance(40_000)
  }
  await passes(ODD, 7)
  succeeded()
  await passes(ODD, 7)
  expect(unread()).toBeUndefined()
  await passes(ODD, 8)
  await passes(new EventSinkError('the database is down'), 8)
  expect(unread()?.block).toBe(8)
  succeeded()
  await passes(new EventSinkError('the database is down'), 9)
  await passes(new Error('no head'), undefined)
  expect(unread()).toBeUndefined()
})

it('a chain that is slow at the start is down until it is read, and one that is read already is not', () => {
  const { lines, notes, startedWithout, succeeded, isUp } = createTestResults()
  startedWithout(3000)
  expect(isUp()).toBe(false)
  succeeded()
  startedWithout(3000)
  expect(isUp()).toBe(true)
  expect(notes).toEqual([
    'the chain has not been read yet: it is down until it is',
    'the chain is read again',
  ])
  expect(lines).toEqual([])
})

it('one failed write shows the chain as down, with one line until the database takes events', async () => {
  const { lines, failed, succeeded, isUp } = createTestResults()
  succeeded()
  for (let time = 0; time < 2; time++)
    failed(new EventSinkError('no room', { cause: new Error('no room') }), {
      block: 7,
      endpoint: 'node.example',
    })
  expect(isUp()).toBe(false)
  expect(lines).toEqual([{ chainId: 1, reason: 'Error: no room', text: 'events cannot be written' }])
  succeeded()
  expect(isUp()).toBe(true)
})

it('a head below the known blocks is an error with the remedy after a hundred polls in a row', async () => {
  const { clock, lines, failed, succeeded, wasLower, isUp } = createTestResults()
  succeeded()
  const lower = () => wasLower({ number: 5 } as Parameters<typeof wasLower>[0], 9)
  for (let polls = 0; polls < 100; polls++) {
    lower()
    await clock.advance(1000)
  }
  expect(lower).toThrow('the head is block 5, the last block read is 9')
  try {
    lower()
  } catch (error) {
    failed(error, { block: undefined, endpoint: 'node.example' })
  }
  expect(isUp()).toBe(false)
  expect(lines).toMatchObject([{ text: expect.stringMatching(/lower than .*stored.*reset.*RPC_URL_1/) }])
})

describe('the pause after failures', () => {
  const pauses = (failures: number, endpoints: number, pollIntervalMs = 1000) =>
    Array.from({ length: 200 }, () => backoffMs(failures, endpoints, pollIntervalMs))

  it('is 0 while an endpoint has not been tried', () => {
    expect([1, 2, 4, 5].map((failures) => backoffMs(failures, 3, 1000))).toEqual([0, 0, 0, 0])
  })

  it.each([
    [1, 1, 1000],
    [3, 3, 1000],
    [9, 3, 4000],
    [1000, 1, 10_000],
  ])('is half to all of the maximum: %d failures, %d endpoints, %d ms', (failures, endpoints, longest) => {
    const values = pauses(failures, endpoints)
    expect(Math.min(...values)).toBeGreaterThanOrEqual(longest / 2)
    expect(Math.max(...values)).toBeLessThanOrEqual(longest)
    expect(new Set(values).size).toBeGreaterThan(100)
  })

  it('begins with a short poll interval, or with a second for a long one', () => {
    expect(Math.max(...pauses(1, 1, 20))).toBeLessThanOrEqual(20)
    expect(Math.max(...pauses(1, 1, 60_000))).toBeLessThanOrEqual(1000)
  })
})

describe('the head', () => {
  const block = (number: number, timestampMs = number * 1000) =>
    only<Parameters<ReturnType<typeof createTestResults>['followed']>[0]>({ number, timestampMs })

  it('is the one that was seen until the next one is followed', () => {
    const { head, sawHead, followed } = createTestResults()
    sawHead(block(60, 86_400_000))
    expect(head()?.number).toBe(60)
    followed(block(11), 10)
    expect(head()).toEqual(block(11))
  })

  it('is the highest that was followed: a node that lags takes none back', () => {
    const { head, followed } = createTestResults()
    for (const [number, before] of [
      [12, 11],
      [11, 11],
    ] as const)
      followed(block(number), before)
    expect(head()).toEqual(block(12))
    followed(block(13), 12)
    expect(head()).toEqual(block(13))
  })
})
