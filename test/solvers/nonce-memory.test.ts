import { describe, expect, test } from 'vitest'
import { createNonceMemory } from '../../src/solvers/nonce-memory.js'
import { solver } from '../store/solver-samples.js'

const [one, other] = [solver(1).address, solver(2).address]

describe('the memory of nonces', () => {
  const create = () => createNonceMemory({ maxSolvers: 2, maxNonces: 3 })

  test('has a nonce as fresh at first, then as repeated, and as fresh for 2 s after it was found unused', () => {
    const memory = create()
    expect([0, 1, 2].map((now) => memory.sent(one, 5n, now))).toEqual(['fresh', 'repeated', 'repeated'])
    memory.setUnused(one, 5n, 1000)
    expect([1000, 2999, 3000].map((now) => memory.sent(one, 5n, now))).toEqual(['fresh', 'fresh', 'repeated'])
    expect(memory.sent(other, 5n, 3000)).toBe('fresh')
  })

  test('keeps a used nonce after any other nonces of its solver and of others', () => {
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
