import { expect, it } from 'vitest'
import { createSlots } from '../../src/orders/filling.js'

it('of what waits, the largest bond comes first, and then the nearest deadline', async () => {
  const inSlot = createSlots(1)
  const order: string[] = []
  const waiting = [
    ['first', 0n, 0],
    ['dust', 1n, 1],
    ['large and late', 500n, 90],
    ['more dust', 1n, 2],
    ['large', 500n, 80],
  ] as const
  await Promise.all(
    waiting.map(([name, bond, deadline]) =>
      inSlot({ bond, deadline }, true, async () => void order.push(name)),
    ),
  )
  expect(order).toEqual(['first', 'large', 'large and late', 'dust', 'more dust'])
})
