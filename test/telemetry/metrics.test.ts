import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { dashboard } from '../support/deploy/monitoring.js'
import { readExpression } from '../support/deploy/promql.js'

/** The fields of prom-client's metrics that its types do not have. */
interface Labelled {
  readonly name: string
  readonly labelNames: readonly string[]
}

const { registry, ...parts } = createMetrics()
const metrics = registry.getMetricsAsArray() as unknown as readonly Labelled[]
const own = metrics.filter(({ name }) => name.startsWith('aggregator_'))

test('docs/operations.md lists every metric of the service with its labels', () => {
  const document = readFileSync('docs/operations.md', 'utf8')
  const rows = [...document.matchAll(/^\| `(aggregator_\w+)` \| ([\w, ]*?) ?\|/gm)].map(
    ([, name = '', labels = '']) => `${name}: ${labels}`,
  )
  expect(rows.sort()).toEqual(own.map(({ name, labelNames }) => `${name}: ${labelNames.join(', ')}`).sort())
})

test('deploy/grafana/dashboard.json has a panel for every metric of the service', () => {
  const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  const selected = expressions.flatMap(
    (expr) => readExpression(expr.replaceAll('$__rate_interval', '5m')).selectors,
  )
  // Without the suffixes of a histogram's samples.
  const shown = selected.map(({ metric }) => metric.replace(/_(?:bucket|sum|count)$/, ''))
  expect(own.map(({ name }) => name).filter((name) => !shown.includes(name))).toEqual([])
})

test('the service counts every metric', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.startsWith('telemetry/'),
  )
  const used = new Set(sources.flatMap((path) => readFileSync(join('src', path), 'utf8').match(/\w+/g)))
  expect(Object.keys(parts).filter((name) => !used.has(name))).toEqual([])
})
