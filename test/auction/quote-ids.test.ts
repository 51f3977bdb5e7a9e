import { randomBytes, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { createQuoteIds } from '../../src/auction/quote-ids.js'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const ids = createQuoteIds(randomBytes(16))

test("a caller's id is a UUID of version 4 with 112 bits that change", () => {
  const made = Array.from({ length: 200 }, () => ids.create())
  for (const id of made)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-40[0-9a-f]{2}-80[0-9a-f]{2}-[0-9a-f]{12}$/)
  for (const at of made[0]?.matchAll(/[0-9a-f]/g) ?? []) {
    const digits = new Set(made.map((id) => id[at.index]))
    const isFixed = [14, 15, 19, 20].includes(at.index)
    expect(digits.size).toBe(isFixed ? 1 : 16)
  }
})

test("a solver's id has the form of a UUID and contains the quote and the index", () => {
  const quoteId = ids.create()
  const made = ids.forSolvers(quoteId, 65_536)
  for (const id of made.slice(0, 300)) expect(id).toMatch(UUID)
  expect(new Set(made).size).toBe(65_536)
  for (const index of [0, 1, 9, 255, 256, 65_535])
    expect(ids.readSolverId(made[index] ?? '')).toEqual({ quoteId, index })
})

test('ids do not depend on the size of a round or on earlier ids', () => {
  const quoteId = ids.create()
  const [first, second] = ids.forSolvers(quoteId, 2)
  ids.forSolvers(ids.create(), 3)
  expect(ids.forSolvers(quoteId, 3).slice(0, 2)).toEqual([first, second])
  expect(ids.forSolvers(quoteId, 0)).toEqual([])
})

test('only the key of an id can read it', () => {
  const quoteId = ids.create()
  const [id = ''] = ids.forSolvers(quoteId, 1)
  expect(createQuoteIds(randomBytes(16)).readSolverId(id)).not.toMatchObject({ quoteId })
})

test('any other UUID reads as a quote that does not exist', () => {
  for (const id of [randomUUID(), ids.create(), '00000000-0000-0000-0000-000000000000'])
    expect(ids.readSolverId(id).quoteId).toMatch(UUID)
})
