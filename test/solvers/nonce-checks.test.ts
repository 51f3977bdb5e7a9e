import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Address } from '../../src/domain/hex.js'
import { createNonceChecks } from '../../src/solvers/nonce-checks.js'
import { solver } from '../store/solver-samples.js'

const [one, other] = [solver(1).address, solver(2).address]
const sent = (nonce: bigint) => ({ nonce, block: undefined })

describe('the checks of nonces', () => {
  afterEach(() => void vi.useRealTimers())

  function start() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const checked: [Address, bigint][] = []
    const checks = createNonceChecks(async (solver, { nonce }) => void checked.push([solver, nonce]))
    return { checks, checked }
  }

  test('read a nonce once that is added several times while it waits', async () => {
    const { checks, checked } = start()
    for (let round = 0; round < 100; round++) checks.add(one, sent(5n))
    await vi.advanceTimersByTimeAsync(0)
    expect(checked).toEqual([[one, 5n]])
  })

  test('are at most 50 a second, and at most 10 of one solver', async () => {
    const { checks, checked } = start()
    for (let second = 0; second < 5; second++) {
      for (let number = 1; number <= 20; number++)
        for (let nonce = 0n; nonce < 40n; nonce++) checks.add(solver(number).address, sent(nonce))
      await vi.advanceTimersByTimeAsync(1000)
    }
    expect(checked.length).toBeGreaterThan(200)
    expect(checked.length).toBeLessThanOrEqual(6 * 50)
    const solvers = new Set(checked.slice(0, 200).map(([solver]) => solver))
    expect(solvers.size).toBe(20)
    checks.close()
  })

  test('of a quiet solver are not delayed by a solver that repeats nonces all the time', async () => {
    const { checks, checked } = start()
    for (let nonce = 0n; nonce < 1000n; nonce++) checks.add(one, sent(nonce))
    checks.add(other, sent(7n))
    await vi.advanceTimersByTimeAsync(0)
    expect(checked).toHaveLength(11)
    expect(checked).toContainEqual([other, 7n])
    checks.close()
  })

  test('are dropped when they fail, and others continue', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const check = vi.fn(async () => Promise.reject(new Error('no answer')))
    const checks = createNonceChecks(check)
    checks.add(one, sent(1n))
    await vi.advanceTimersByTimeAsync(0)
    checks.add(one, sent(1n))
    await vi.advanceTimersByTimeAsync(1000)
    expect(check).toHaveBeenCalledTimes(2)
    checks.close()
  })

  test('end with close', async () => {
    const { checks, checked } = start()
    checks.add(one, sent(5n))
    checks.close()
    await vi.advanceTimersByTimeAsync(5000)
    expect(checked).toEqual([])
  })
})
