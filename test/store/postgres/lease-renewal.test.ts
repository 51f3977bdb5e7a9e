import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { startLeaseRenewal } from '../../../src/store/postgres/lease-renewal.js'
import type { ReplicaLease } from '../../../src/store/postgres/replica-lease.js'
import { only } from '../../support/only.js'

const LEASE_MS = 50

/** A lease that notes its calls, and fails as long as the test wants. */
async function start() {
  const calls: string[] = []
  const lines: string[] = []
  const state = { isDown: false, ended: 0 }
  const note = async (name: string) => {
    calls.push(name)
    if (state.isDown) throw new Error('down')
  }
  const close = await startLeaseRenewal(
    only<ReplicaLease>({
      renew: () => note('renew'),
      releaseExpired: () => note('release').then(() => state.ended),
      giveUp: () => note('give up'),
    }),
    LEASE_MS,
    systemClock,
    pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) }),
  )
  onTestFinished(close)
  return { calls, lines, state, close }
}

test('a replica takes its lease first, and renews it before each release of others', async () => {
  const { calls, lines, state } = await start()
  expect(calls).toEqual(['renew'])
  state.ended = 3
  await expect.poll(() => calls.length).toBeGreaterThan(4)
  expect(calls.slice(0, 5)).toEqual(['renew', 'renew', 'release', 'renew', 'release'])
  await expect.poll(() => lines).toContain('the solver sessions of a replica that is gone have ended')
})

test('a replica releases nothing while it cannot renew its lease, and tries again', async () => {
  const { calls, lines, state } = await start()
  state.isDown = true
  const before = calls.length
  await expect.poll(() => calls.length).toBeGreaterThan(before + 3)
  expect(calls.slice(before + 1)).not.toContain('release')
  state.isDown = false
  await expect.poll(() => calls.at(-1)).toBe('release')
  expect(lines).toEqual([
    'the lease of this replica could not be renewed',
    'the lease of this replica is renewed again',
  ])
})

test('a replica gives up its lease at its end, and ends although the database is down', async () => {
  const { calls, state, close } = await start()
  state.isDown = true
  await close()
  expect(calls.at(-1)).toBe('give up')
})
