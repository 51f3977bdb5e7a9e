import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Address } from '../../src/domain/hex.js'
import { createNonceChecks } from '../../src/solvers/nonce-checks.js'
import { createNonceMemory } from '../../src/solvers/nonce-memory.js'

const address = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`
const [one, other] = [address(1), address(2)]
const sent = (nonce: bigint) => ({ nonce, block: undefined })

describe('the memory of nonces', () => {
  const create = () => createNonceMemory({ maxSolvers: 2, maxNonces: 3 })

  test('has a nonce as fresh at first, then as repeated, and as fresh for 2 s after it was found unused', () => {
    const memory = create()
    expect([0, 1, 2].map((now) => memory.sent(one, 5n, now))).toEqual(['fresh', 'repeated', 'repeated'])
    memory.setUnused(one, 5n, 1000)
    expect([1000, 2999, 3000].map((now) => memory.sent(one, 5n, now))).toEqual(['fresh', 'fresh', 'repeated'])
    expect(memory.sent(other, 5n, 3000)).toBe('fresh')
  })

  test('keeps a used nonce, whatever else its solver and others send', () => {
    const memory = create()
    memory.setUsed(one, 5n)
    for (let nonce = 100n; nonce < 200n; nonce++) {
      memory.sent(one, nonce, 0)
      memory.sent(other, nonce, 0)
      memory.setUsed(other, nonce)
    }
    expect(memory.sent(one, 5n, 0)).toBe('used')
  })

  test('keeps a bounded number of used nonces of a solver', () => {
    const memory = create()
    for (const nonce of [1n, 2n, 3n, 4n]) memory.setUsed(one, nonce)
    expect([1n, 2n, 3n, 4n].map((nonce) => memory.sent(one, nonce, 0))).toEqual([
      'fresh',
      'used',
      'used',
      'used',
    ])
  })

  test('doubts nonces that were used before blocks were removed, until they are found used again', () => {
    const memory = create()
    memory.setUsed(one, 5n)
    memory.setUsed(one, 6n)
    memory.doubt()
    expect([5n, 6n].map((nonce) => memory.sent(one, nonce, 0))).toEqual(['doubted', 'doubted'])
    memory.setUsed(one, 5n)
    memory.setUnused(one, 6n, 0)
    expect([5n, 6n].map((nonce) => memory.sent(one, nonce, 0))).toEqual(['used', 'fresh'])
  })
})

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
      for (let solver = 1; solver <= 20; solver++)
        for (let nonce = 0n; nonce < 40n; nonce++) checks.add(address(solver), sent(nonce))
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
