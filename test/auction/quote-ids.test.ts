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
  const made = Array.from({ length: 65_536 }, (_, index) => ids.forSolver(quoteId, index))
  for (const id of made.slice(0, 300)) expect(id).toMatch(UUID)
  expect(new Set(made).size).toBe(65_536)
  for (const index of [0, 1, 9, 255, 256, 65_535])
    expect(ids.readSolverId(made[index] ?? '')).toEqual({ quoteId, index })
})

test('a page token is a place in a list, and the id in it is of no solver and not that of the caller', () => {
  const place = { requestedAt: 1_799_999_700_123, quoteId: ids.create() }
  const token = ids.toPageToken(place)
  expect(ids.readPageToken(token)).toEqual(place)
  const [, id = ''] = token.split('.')
  expect(ids.readSolverId(id).index).toBe(65_535)
  expect(token).not.toContain(place.quoteId)
  for (const wrong of ['', `${token} `, token.slice(9), token.toUpperCase(), place.quoteId])
    expect(ids.readPageToken(wrong)).toBeUndefined()
})

test('only the key of an id can read it', () => {
  const quoteId = ids.create()
  const id = ids.forSolver(quoteId, 0)
  expect(createQuoteIds(randomBytes(16)).readSolverId(id)).not.toMatchObject({ quoteId })
})

test('any other UUID reads as a quote that does not exist', () => {
  for (const id of [randomUUID(), ids.create(), '00000000-0000-0000-0000-000000000000'])
    expect(ids.readSolverId(id).quoteId).toMatch(UUID)
})
