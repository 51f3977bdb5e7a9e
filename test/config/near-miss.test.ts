import { expect, test } from 'vitest'
import { nearMiss } from '../../src/config/near-miss.js'

const KNOWN = ['chainId', 'type', 'orderId', 'user', 'solver', 'after']
const twoLetters = () => 2

test.each([
  ['chainid', 'chainId'],
  ['chain_id', 'chainId'],
  ['CHAIN-ID', 'chainId'],
  ['usr', 'user'],
  ['users', 'user'],
  ['solvr', 'solver'],
  ['oderId', 'orderId'],
])('%s is a near miss of %s', (name, meant) => {
  expect(nearMiss(name, KNOWN, twoLetters)).toBe(meant)
})

test.each(['', 'x', 'limit', 'cursor', 'orderIdentifier'])('%j is a near miss of nothing', (name) => {
  expect(nearMiss(name, KNOWN, twoLetters)).toBeUndefined()
})

test('the nearest name is returned, and each name has its own distance', () => {
  expect(nearMiss('orders', ['orderId', 'order'], twoLetters)).toBe('order')
  expect(nearMiss('orders', ['orderId', 'order'], (name) => (name === 'order' ? 0 : 2))).toBe('orderId')
})
