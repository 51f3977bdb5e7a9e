import { expect, test } from 'vitest'
import { latencyPlot, svg, throughputPlot, ticksAround } from './plot.js'

const row = (server: string, solvers: number | string, connections: number, figure: number) => ({
  server,
  solvers,
  connections,
  'quotes/s': figure,
  'median ms': figure,
  'p99 ms': 2 * figure,
})
const ROWS = [
  row('limit', 1, 16, 1000),
  row('service', 1, 16, 500),
  row('limit', 10, 16, 100),
  row('service', 10, 16, 50),
  row('limit', 10, 1, 10),
  row('service', 10, 1, 20),
  { server: 'limit', solvers: 'each one more', connections: 16, 'CPU ms per quote': 0.1 },
]

test('throughput is drawn over the solvers for a number of connections', () => {
  const [limit, service] = throughputPlot(ROWS, 16).series
  expect(limit?.points).toEqual([
    { x: 1, y: 1000 },
    { x: 10, y: 100 },
  ])
  expect(service?.points).toEqual([
    { x: 1, y: 500 },
    { x: 10, y: 50 },
  ])
})

test('latency is drawn over the connections for a number of solvers, with a dashed p99', () => {
  const { series } = latencyPlot(ROWS, 10)
  expect(series.map(({ name, isDashed }) => [name, isDashed])).toEqual([
    ['limit, median', false],
    ['limit, p99', true],
    ['service, median', false],
    ['service, p99', true],
  ])
  expect(series[3]?.points).toEqual([
    { x: 16, y: 100 },
    { x: 1, y: 40 },
  ])
})

test('ticks are round and enclose all values', () => {
  expect(ticksAround([37, 420])).toEqual([20, 50, 100, 200, 500])
  expect(ticksAround([1, 10])).toEqual([1, 2, 5, 10])
  expect(ticksAround([0.7])).toEqual([0.5, 1])
})

test('points are at their places on the axes', () => {
  const points = [
    { x: 1, y: 1 },
    { x: 10, y: 10 },
    { x: 100, y: 100 },
  ]
  const drawn = svg({
    title: 't',
    xLabel: 'x',
    yLabel: 'y',
    series: [{ name: 's', color: '#000000', points }],
  })
  expect([...drawn.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [x, y])).toEqual([
    ['70', '360'],
    ['380', '220'],
    ['690', '80'],
  ])
  expect(drawn).toContain('points="70,360 380,220 690,80"')
})

test('the document is well-formed for any words', () => {
  const drawn = svg({ ...throughputPlot(ROWS, 16), title: 'less < more & so on' })
  expect(drawn).toContain('<title>less &lt; more &amp; so on</title>')
  expect(drawn).not.toMatch(/NaN|undefined|Infinity/)
  const open: string[] = []
  for (const [, closing, name = '', rest = ''] of drawn.matchAll(
    /<(\/?)(\w+)((?:\s+[\w-]+="[^"<]*")*\s*\/?)>/g,
  )) {
    if (closing) expect(open.pop()).toBe(name)
    else if (!rest.endsWith('/')) open.push(name)
  }
  expect(open).toEqual([])
  expect(drawn.replaceAll(/<\/?\w+(?:\s+[\w-]+="[^"<]*")*\s*\/?>/g, '')).not.toMatch(/[<>]/)
})
