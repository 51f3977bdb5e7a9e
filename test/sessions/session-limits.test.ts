import { expect, test } from 'vitest'
import { identifyClient } from '../../src/clients/client-id.js'
import { createPendingSlots, createSessionRate } from '../../src/sessions/session-limits.js'
import { createManualClock } from '../support/manual-clock.js'

const HONEST = '198.51.100.7'

const ADDRESS = `0x${'0a'.repeat(20)}` as const

/** Places, and the addresses of connections that have lost theirs. */
function openPlaces() {
  const slots = createPendingSlots()
  const dropped: string[] = []
  const reasons = new Set<string>()
  const take = (address: string) =>
    slots.take(identifyClient(address), ({ reason }) => {
      dropped.push(address)
      reasons.add(reason)
    })
  return { ...slots, dropped, reasons, take }
}

/** Different addresses in some regions, as a stranger rents them: in turn, so that each region has as many. */
function strangers(count: number, regions = 6): string[] {
  return Array.from(
    { length: count },
    (_, index) => `203.${index % regions}.${Math.floor(index / 250)}.${index % 250}`,
  )
}

test('300 addresses that never send a hello keep no solver out, and lose slots themselves', () => {
  const { take, dropped, count } = openPlaces()
  for (const address of strangers(300)) take(address)
  expect(count()).toBe(256)
  for (let time = 0; time < 12; time++) {
    const release = take(HONEST)
    for (const address of strangers(12)) take(address)
    expect(dropped).not.toContain(HONEST)
    release()
  }
  expect(dropped.length).toBeGreaterThan(0)
})

test('the oldest connection of the largest group of addresses loses its slot', () => {
  const { take, dropped, reasons } = openPlaces()
  for (let host = 0; host < 132; host++) take(`203.0.113.${host}`)
  for (let host = 0; host < 124; host++) take(`2001:db8:1:${host}::1`)
  take(HONEST)
  take('2001:db8:2::1')
  expect(dropped).toEqual(['203.0.113.0', '203.0.113.1'])
  expect([...reasons]).toEqual(['SESSION_LIMIT_REACHED'])
})

test('one client has four slots, and gets one back for each that it releases', () => {
  const { take, assertFree } = openPlaces()
  const releases = Array.from({ length: 4 }, () => take(HONEST))
  const assertHonestFree = () => assertFree(identifyClient(HONEST))
  const refused = expect.objectContaining({
    reason: 'SESSION_LIMIT_REACHED',
    message: expect.stringMatching(/^This client may not have more/),
  })
  expect(assertHonestFree).toThrow(refused)
  expect(() => take(HONEST)).toThrow(refused)
  for (let time = 0; time < 2; time++) releases[0]?.()
  expect(assertHonestFree).not.toThrow()
  take(HONEST)
  expect(assertHonestFree).toThrow()
})

test('a solver opens so many sessions a minute, and one that was not opened counts no more in its minute and in no other', async () => {
  const clock = createManualClock()
  const rate = createSessionRate(2, clock.monotonic)
  const refused = expect.objectContaining({ reason: 'RATE_LIMITED', retryAfterSeconds: 60 })
  const count = () => rate.count(ADDRESS)
  count()
  const takeBack = count()
  expect(count).toThrow(refused)
  await clock.advance(60_000)
  for (let time = 0; time < 2; time++) count()
  takeBack()
  expect(count).toThrow(refused)
  await clock.advance(60_000)
  count()
  count()()
  count()
  expect(count).toThrow(refused)
})

test('10,000 keys whose sessions are not opened do not end the count of a solver', () => {
  const rate = createSessionRate(1, createManualClock().monotonic)
  rate.count(ADDRESS)
  for (let key = 0; key < 10_000; key++) rate.count(`0x${key.toString(16).padStart(40, '0')}`)()
  expect(() => rate.count(ADDRESS)).toThrow(expect.objectContaining({ reason: 'RATE_LIMITED' }))
})
