import { expect, it } from 'vitest'
import { createSlots } from '../../src/orders/slots.js'

it('of what waits, the largest bond comes first, and then the nearest deadline', async () => {
  const slots = createSlots(1)
  const order: string[] = []
  let release = () => {}
  const first = slots.run(
    { bond: 0n, deadline: 0 },
    () => new Promise<void>((resolve) => (release = resolve)),
  )
  const waiting = [
    ['dust', 1n, 1],
    ['large and late', 500n, 90],
    ['more dust', 1n, 2],
    ['large', 500n, 80],
  ] as const
  const ended = waiting.map(([name, bond, deadline]) =>
    slots.run({ bond, deadline }, async () => void order.push(name)),
  )
  release()
  await Promise.all([first, ...ended])
  expect(order).toEqual(['large', 'large and late', 'dust', 'more dust'])
})
