import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { alertQueries, dashboard, dashboardQueries, type Query } from '../deploy/monitoring.js'
import { readExpression } from '../deploy/promql.js'

/** The fields of prom-client's metrics that its types do not have. */
interface Labelled {
  readonly name: string
  readonly type: string
  readonly labelNames: readonly string[]
}

const { registry, ...parts } = createMetrics()
const metrics = registry.getMetricsAsArray() as unknown as readonly Labelled[]
const own = metrics.filter(({ name }) => name.startsWith('aggregator_'))

/** The text of the sources in a folder. */
function sourcesOf(folder: string, isWanted: (path: string) => boolean = () => true): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && isWanted(path))
    .map((path) => readFileSync(join(folder, path), 'utf8'))
    .join('\n')
}

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
  const used = new Set(sourcesOf('src', (path) => !path.startsWith('telemetry/')).match(/\w+/g))
  expect(Object.keys(parts).filter((name) => !used.has(name))).toEqual([])
})

/** The labels of each series, of the service and of Prometheus itself. */
const labelsOf = new Map<string, readonly string[]>([
  ...metrics.flatMap(({ name, type, labelNames }) =>
    type === 'histogram'
      ? [
          [`${name}_bucket`, [...labelNames, 'le']] as const,
          ...['sum', 'count'].map((end) => [`${name}_${end}`, labelNames] as const),
        ]
      : [[name, labelNames] as const],
  ),
  ['up', []],
  // Of other exporters.
  ...['node_filesystem_avail_bytes', 'node_filesystem_size_bytes'].map(
    (name) => [name, ['fstype', 'mountpoint']] as const,
  ),
  ['probe_ssl_earliest_cert_expiry', []],
  ['ALERTS', ['alertname', 'alertstate', 'service']],
])
const OF_TARGET = ['job', 'instance']

function findUnknown(find: (query: Query) => readonly string[]): string[] {
  return [...dashboardQueries(), ...alertQueries()].flatMap((query) =>
    find(query).map((unknown) => `${query.of}: ${unknown}`),
  )
}

test('the dashboard and the alerts use metrics and labels that exist', () => {
  const unknown = findUnknown(({ expr, shownLabels }) => {
    const { selectors, groupings } = readExpression(expr)
    const lacking = selectors.filter(({ metric }) => !labelsOf.has(metric)).map(({ metric }) => metric)
    const known = (metric: string) => [...OF_TARGET, ...(labelsOf.get(metric) ?? [])]
    const selected = selectors.flatMap(({ metric, matchers }) =>
      matchers.flatMap(({ label }) => (known(metric).includes(label) ? [] : `${metric}{${label}}`)),
    )
    const all = selectors.flatMap(({ metric }) => known(metric))
    return [
      ...lacking,
      ...selected,
      ...[...groupings, ...shownLabels].filter((label) => !all.includes(label)),
    ]
  })
  expect(unknown).toEqual([])
})

test('the dashboard and the alerts select by words that the sources have', () => {
  const sources = ['src', 'packages/protocol/src', 'gen'].map((folder) => sourcesOf(folder)).join()
  const unknown = findUnknown(({ expr }) =>
    readExpression(expr)
      .selectors.filter(({ metric }) => metric.startsWith('aggregator_'))
      .flatMap(({ matchers }) => matchers)
      .filter(({ label, value }) => !OF_TARGET.includes(label) && !value.startsWith('$'))
      .flatMap(({ value }) => value.split('|'))
      .filter((word) => !new RegExp(`\\b${word.replace('/', '.')}\\b`).test(sources)),
  )
  expect(unknown).toEqual([])
})
