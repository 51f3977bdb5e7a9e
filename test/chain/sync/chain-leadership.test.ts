import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { ChainConfigError } from '../../../packages/chain/src/contract/chain-config-error.js'
import { createChainLeadership } from '../../../src/chain/sync/chain-leadership.js'
import type { ChainSnapshot, ChainState } from '../../../src/chain/sync/chain-state.js'
import type { LeadershipListener } from '../../../src/cluster/cluster.js'
import { deferred } from '../../support/deferred.js'
import { createManualClock, type ManualClock } from '../../support/manual-clock.js'
import { only } from '../../support/only.js'

const START_MS = 3000
const LONG_MS = 60_000
const WRONG_CHAIN = () => new ChainConfigError('RPC_URL_5', 'answers for chain 7, and not for 5')

let lines: { level: number; reason: string }[]

let clock: ManualClock

beforeEach(() => {
  clock = createManualClock()
  lines = []
})

const READ_HERE = { status: 'ok', head: undefined, last: undefined, published: 7 } as const
const RECEIVED = { ...READ_HERE, status: 'syncing', published: 5 } as const

/** The leadership of a follower replica, until the test elects it. */
function createTestLeadership(verifyEndpoint: () => Promise<void>, startSync = async () => {}) {
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  let candidate: LeadershipListener | undefined
  let readings = 0
  let received: ChainSnapshot = RECEIVED
  let state: Pick<ChainState, 'snapshot'> = { snapshot: RECEIVED }
  const cluster = {
    async acquire(_name: string, one: LeadershipListener) {
      candidate = one
    },
  }
  const leadership = createChainLeadership(only({ config: { chainId: 5 }, cluster, clock, log }), {
    remoteState: {
      get snapshot() {
        return received
      },
      poll: async () => false,
      continueFrom(snapshot) {
        received = snapshot
      },
    },
    createChainSync() {
      readings++
      return {
        start: startSync,
        close: async () => {},
        snapshot: READ_HERE,
        poll: async () => true,
      }
    },
    verifyEndpoint,
    onChange(next) {
      state = next
    },
  })
  return {
    ...leadership,
    elect: () => candidate?.onAcquired(),
    stepDown: () => candidate?.onLost(),
    readings: () => readings,
    snapshot: () => state.snapshot,
  }
}

it('the state is the received one, the own one during a leadership, and the last own one after it', async () => {
  const leadership = createTestLeadership(async () => {})
  await leadership.start()
  const now = () => [leadership.isLeader(), leadership.snapshot()]
  expect(now()).toEqual([false, RECEIVED])
  leadership.elect()
  expect(now()).toEqual([true, READ_HERE])
  leadership.stepDown()
  expect(now()).toEqual([false, READ_HERE])
  await leadership.close()
})

it('a replica that is elected after close does not read the chain', async () => {
  const leadership = createTestLeadership(async () => {})
  await leadership.start()
  await leadership.close()
  leadership.elect()
  expect([leadership.readings(), leadership.isLeader()]).toEqual([0, false])
})

describe('a follower replica', () => {
  it('verifies the endpoint again while the chain does not answer, until it is closed', async () => {
    let asked = 0
    let answer = deferred()
    const leadership = createTestLeadership(async () => {
      asked++
      await answer.opened
      throw new Error('no answer')
    })
    const started = leadership.start()
    await clock.advance(START_MS)
    await started
    answer.open()
    answer = deferred()
    await clock.advance(LONG_MS)
    expect(asked).toBe(2)
    const closed = leadership.close()
    answer.open()
    await closed
    await clock.advance(LONG_MS)
    expect(asked).toBe(2)
    expect(clock.waiting).toBe(0)
  })

  it('refuses to start on a wrong chain that answers in time', async () => {
    const leadership = createTestLeadership(async () => {
      throw WRONG_CHAIN()
    })
    await expect(leadership.start()).rejects.toThrow(ChainConfigError)
    await leadership.close()
    // The caller receives the configuration error and reports it.
    expect(lines).toEqual([])
  })

  it('logs a wrong chain that answers late once, and verifies again until it is the right one', async () => {
    let asked = 0
    let isRight = false
    const answer = deferred()
    const leadership = createTestLeadership(async () => {
      asked++
      await answer.opened
      if (!isRight) throw WRONG_CHAIN()
    })
    const started = leadership.start()
    await clock.advance(START_MS)
    await started
    expect(lines).toEqual([])
    answer.open()
    await clock.advance(LONG_MS)
    expect(asked).toBeGreaterThan(2)
    expect(lines).toEqual([
      expect.objectContaining({ level: 50, reason: expect.stringMatching(/RPC_URL_5.*chain 7/) }),
    ])
    isRight = true
    await clock.advance(LONG_MS)
    const before = asked
    await clock.advance(LONG_MS)
    expect(asked).toBe(before)
    expect(clock.waiting).toBe(0)
    await leadership.close()
  })
})
