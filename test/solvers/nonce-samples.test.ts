import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Address } from '../../src/domain/hex.js'
import { createNonceSamples } from '../../src/solvers/nonce-samples.js'
import { solver } from '../store/solver-samples.js'

const [one, other] = [solver(1).address, solver(2).address]

describe('samples', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())
  const sent = (nonce: bigint) => () => ({ nonce, block: undefined })

  it('have one nonce of each solver in 5 s, which can be any that it has sent', () => {
    const samples: [Address, bigint][] = []
    const { add } = createNonceSamples((solver, { nonce }) => void samples.push([solver, nonce]))
    for (let window = 0; window < 200; window++) {
      for (const nonce of [0n, 1n, 2n, 3n]) add(one, sent(nonce))
      add(other, sent(9n))
      vi.advanceTimersByTime(4999)
      expect(samples).toHaveLength(window * 2)
      vi.advanceTimersByTime(1)
      expect(samples).toHaveLength(window * 2 + 2)
    }
    const ofOne = samples.filter(([solver]) => solver === one).map(([, nonce]) => nonce)
    expect(new Set(ofOne)).toEqual(new Set([0n, 1n, 2n, 3n]))
    expect(ofOne).toHaveLength(200)
  })

  it('are 50 in 5 s for all solvers together', () => {
    const solvers = new Set<Address>()
    const { add } = createNonceSamples((address) => void solvers.add(address))
    for (let number = 0; number < 1000; number++) add(solver(number).address, sent(1n))
    vi.advanceTimersByTime(5000)
    expect(solvers.size).toBe(50)
    expect([...solvers].some((address) => address > solver(50).address)).toBe(true)
  })

  it('end with close, and no later nonce starts them', () => {
    const onSample = vi.fn()
    const { add, close } = createNonceSamples(onSample)
    add(one, sent(1n))
    close()
    add(one, sent(2n))
    expect(vi.getTimerCount()).toBe(0)
    vi.advanceTimersByTime(5000)
    expect(onSample).not.toHaveBeenCalled()
  })
})
