import { expect, it } from 'vitest'
import { createDemand } from '../../../src/chain/sync/demand.js'
import { createManualClock } from '../../support/manual-clock.js'

const MINUTE_MS = 60_000

function startDemand() {
  const clock = createManualClock()
  const told = { published: 0, noted: 0 }
  let isWatched = false
  const demand = createDemand({
    clock,
    hasSubscribers: () => isWatched,
    publish: () => void told.published++,
    onNote: () => void told.noted++,
  })
  const watch = (is: boolean) => {
    isWatched = is
  }
  return { ...demand, clock, told, watch }
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
  expect(told).toEqual({ published: 0, noted: 1 })
  note()
  note()
  expect(told).toEqual({ published: 1, noted: 3 })
  await clock.advance(19_999)
  note()
  expect(told.published).toBe(1)
  await clock.advance(1)
  note()
  expect(told.published).toBe(2)
})
