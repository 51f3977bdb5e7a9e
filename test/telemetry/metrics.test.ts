import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createMetrics } from '../../src/telemetry/metrics.js'

/** The fields of prom-client's metrics that its types do not have. */
interface Labelled {
  readonly name: string
  readonly labelNames: readonly string[]
}

test('docs/operations.md lists every metric of the service with its labels', () => {
  const document = readFileSync('docs/operations.md', 'utf8')
  const rows = [...document.matchAll(/^\| `(aggregator_\w+)` \| ([\w, ]*?) ?\|/gm)].map(
    ([, name = '', labels = '']) => `${name}: ${labels}`,
  )
  const metrics = createMetrics().registry.getMetricsAsArray() as unknown as readonly Labelled[]
  const own = metrics.filter(({ name }) => name.startsWith('aggregator_'))
  expect(rows.sort()).toEqual(own.map(({ name, labelNames }) => `${name}: ${labelNames.join(', ')}`).sort())
})
