import { expect, test } from 'vitest'
import { describeOldNode } from '../../src/config/node-support.js'

const at = (time: string) => Date.parse(time)

test.each([
  ['20.20.2', '2026-04-30', '2026-05-01T00:00:00Z'],
  ['22.23.5', '2027-04-30', '2027-05-01T00:00:00Z'],
  ['24.22.3', '2028-04-30', '2028-05-01T00:00:00Z'],
])('Node %s is called old after %s, and not on that day', (version, lastDay, dayAfter) => {
  expect(describeOldNode(version, at(`${lastDay}T23:59:59Z`))).toBeUndefined()
  expect(describeOldNode(version, at(dayAfter))).toBe(
    `Node ${version} has had no security updates since ${lastDay}: use a newer one`,
  )
})

test('nothing is said of a newer Node, whose end is not known here', () => {
  expect(describeOldNode('26.1.0', at('2030-01-01T00:00:00Z'))).toBeUndefined()
})
