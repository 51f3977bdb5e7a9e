import { expect } from 'vitest'
import { eventually } from './eventually.js'

/** Waits until a value is as expected, in any order of its fields, and compares it, so that a failure shows the difference. */
export async function expectAtLast<T>(read: () => Promise<T>, expected: T): Promise<void> {
  const last = await eventually(read, (value) => textOf(value) === textOf(expected)).catch(read)
  expect(last).toEqual(expected)
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
