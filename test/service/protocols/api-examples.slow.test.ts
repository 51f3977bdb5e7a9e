import { expect, it } from 'vitest'
import { examples } from '../../../scripts/openapi/contract.js'
import { captureExamples } from '../../support/openapi/capture-examples.js'
import { startOpenApiFixture } from '../../support/openapi/fixture.js'
import { shared } from '../../support/shared.js'

/** What differs from run to run in a text. */
const OF_ONE_RUN: readonly (readonly [RegExp, string])[] = [
  [/0x[0-9a-f]{8,}/gi, '<hex>'],
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>'],
  [/[\w-]{60,}|[\da-z]{8}\.<uuid>/g, '<page token>'],
  [/[\w-]{8}\.\d+(\.[\w-]{8})?/g, '<cursor>'],
  [/(?<=127\.0\.0\.1:)\d+/g, '<port>'],
  // The value of a metric, a number in JSON, a time or an amount in a sentence.
  [/(?<=^\w+(\{.*\})? )[\d.e+-]+$|(?<=":)\d+|\d{9,}/gm, '<number>'],
]

const fixture = await shared(startOpenApiFixture())
const run = await captureExamples(fixture)

/** What each run has in common: names, codes and sentences. */
function common(value: unknown): unknown {
  if (typeof value === 'number') return '<number>'
  if (typeof value === 'string')
    return OF_ONE_RUN.reduce((text, [part, name]) => text.replace(part, name), value)
  if (Array.isArray(value)) return value.map(common)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, common(item)]))
}

it('a running service answers like the examples: run `npx tsx scripts/capture-examples.ts` otherwise', () => {
  expect(common(run)).toEqual(common(examples))
})
