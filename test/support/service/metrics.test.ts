import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { parseMetrics } from './metrics.js'

const TEXT = `# HELP requests_total Requests, {by="method"} 1
# TYPE requests_total counter
requests_total{method="a",protocol="rest"} 2
requests_total{method="a",protocol="sse"} 3
requests_total{method="b",protocol="rest"} 4

requests_total_created 9
up 1
`

test('the parser finds the series of a metric that have the given labels', () => {
  const metrics = parseMetrics(TEXT)
  expect(metrics.series('requests_total', { protocol: 'rest' })).toEqual([
    { name: 'requests_total', labels: { method: 'a', protocol: 'rest' }, value: 2 },
    { name: 'requests_total', labels: { method: 'b', protocol: 'rest' }, value: 4 },
  ])
  expect(metrics.all.map(({ value }) => value)).toEqual([2, 3, 4, 9, 1])
})

test('a sum counts every series with the labels, and is 0 when no series has them', () => {
  const { sum } = parseMetrics(TEXT)
  expect([sum('requests_total'), sum('requests_total', { method: 'a' }), sum('up')]).toEqual([9, 5, 1])
  expect([sum('requests'), sum('requests_total', { method: '' }), sum('up', { x: 'y' })]).toEqual([0, 0, 0])
})

test('a value belongs to exactly one series, or to none', () => {
  const { value } = parseMetrics(TEXT)
  expect(value('requests_total', { method: 'b' })).toBe(4)
  expect(value('requests_total', { method: 'c' })).toBeUndefined()
  expect(() => value('requests_total', { method: 'a' })).toThrow('2 series of requests_total')
})

test('the parser restores label values that contain quotes, backslashes, line breaks and braces', () => {
  const text = String.raw`strange{a="\"x\" \\n}",b="\n",c=""} 1`
  expect(parseMetrics(text).all).toEqual([
    { name: 'strange', labels: { a: '"x" \\n}', b: '\n', c: '' }, value: 1 },
  ])
})

test.each([
  ['1.5e+09', 1.5e9],
  ['+Inf', Number.POSITIVE_INFINITY],
  ['-Inf', Number.NEGATIVE_INFINITY],
  ['NaN', Number.NaN],
  ['7 1395066363000', 7],
])('the parser reads the value of "up %s" as %d', (text, value) => {
  expect(parseMetrics(`up ${text}`).value('up')).toBe(value)
})

test.each(['up', 'up{a="b} 1', '{a="b"} 1', 'up{a="b"}1'])('the parser rejects the line %j', (line) => {
  expect(() => parseMetrics(`other 1\n${line}`)).toThrow(`not a series: ${line}`)
})

test('the parser reads what prom-client writes', async () => {
  const registers = [new Registry()]
  new Counter({ name: 'counter', help: 'help', labelNames: ['of'], registers }).inc({ of: 'a "b"\n\\' }, 2)
  new Gauge({ name: 'gauge', help: 'help', registers }).set(-0.25)
  new Histogram({ name: 'seconds', help: 'help', buckets: [1], registers }).observe(3)
  const metrics = parseMetrics((await registers[0]?.metrics()) ?? '')
  expect(metrics.value('counter', { of: 'a "b"\n\\' })).toBe(2)
  expect(metrics.value('gauge')).toBe(-0.25)
  expect(metrics.series('seconds_bucket').map(({ labels, value }) => [labels.le, value])).toEqual([
    ['1', 0],
    ['+Inf', 1],
  ])
  expect(metrics.value('seconds_sum')).toBe(3)
})
