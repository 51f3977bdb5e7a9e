import { expect, it } from 'vitest'
import type { ChainSnapshot } from '../../../src/chain/sync/chain-state.js'
import { createDemand } from '../../../src/chain/sync/demand.js'
import { createManualClock } from '../../support/manual-clock.js'

const MINUTE_MS = 60_000
const SNAPSHOT: ChainSnapshot = {
  status: 'ok',
  head: undefined,
  last: undefined,
  published: undefined,
  isIdle: false,
}

function startDemand() {
  const clock = createManualClock()
  const told = { published: 0, woken: 0 }
  let isWatched = false
  const state = { snapshot: { ...SNAPSHOT }, wake: () => void told.woken++ }
  const demand = createDemand(
    clock,
    () => state,
    () => isWatched,
    () => void told.published++,
  )
  const watch = (is: boolean) => {
    isWatched = is
  }
  const pollsAreIdle = (isIdle: boolean) => {
    state.snapshot = { ...SNAPSHOT, isIdle }
  }
  return { ...demand, clock, told, watch, pollsAreIdle }
}

it('a chain is idle a minute after the last note, of this replica or another one, without subscribers', async () => {
  const { clock, isIdle, note, noteRemote, watch } = startDemand()
  for (const noteOne of [() => {}, note, noteRemote]) {
    noteOne()
    await clock.advance(MINUTE_MS - 1)
    expect(isIdle()).toBe(false)
    await clock.advance(1)
    expect(isIdle()).toBe(true)
  }
  watch(true)
  expect(isIdle()).toBe(false)
})

it('other replicas are told at the first note and every 20 s at most, and never of what they have told', async () => {
  const { clock, note, noteRemote, told } = startDemand()
  noteRemote()
  expect(told.published).toBe(0)
  note()
  note()
  expect(told.published).toBe(1)
  await clock.advance(19_999)
  note()
  expect(told.published).toBe(1)
  await clock.advance(1)
  note()
  expect(told.published).toBe(2)
})

it('a note has the chain polled when its last poll was one without demand', () => {
  const { note, noteRemote, pollsAreIdle, told } = startDemand()
  note()
  expect(told.woken).toBe(0)
  pollsAreIdle(true)
  note()
  noteRemote()
  expect(told.woken).toBe(2)
})

it('a request waits until the state is new, for 300 ms at most, and not at all when it is', async () => {
  const { clock, pollsAreIdle, wake } = startDemand()
  expect(wake()).toBeUndefined()
  for (const endsAfterMs of [100, Number.POSITIVE_INFINITY]) {
    pollsAreIdle(true)
    let isAwake = false
    const waiting = wake()?.then(() => {
      isAwake = true
    })
    await clock.advance(99)
    expect(isAwake).toBe(false)
    if (endsAfterMs === 100) pollsAreIdle(false)
    await clock.advance(endsAfterMs === 100 ? 10 : 190)
    expect(isAwake).toBe(endsAfterMs === 100)
    await clock.advance(20)
    expect(isAwake).toBe(true)
    await waiting
  }
})
