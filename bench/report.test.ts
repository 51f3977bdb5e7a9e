import { expect, test } from 'vitest'
import { page, table } from './page.js'
import { asJson, type Entry, merge, rounded } from './report.js'

const RUN = {
  date: '2026-01-02T03:04:05.678Z',
  commit: 'abc1234',
  cpu: 'A processor',
  cores: 2,
  memoryGiB: 8,
  node: 'v20.19.0',
  platform: 'linux x64',
}

const entry = (about: string, commit = RUN.commit): Entry => ({
  about,
  run: { ...RUN, commit },
  rows: [{ server: 'limit', 'quotes/s': 1234.5 }],
  findings: [{ name: 'throughput', value: 0.75, atLeast: 0.8 }],
})

test('a figure keeps three significant digits', () => {
  expect([1234.5, 99.95, 12.345, 0.012345, 0, -0.5].map(rounded)).toEqual([1235, 100, 12.3, 0.0123, 0, -0.5])
})

test('a newer entry replaces only its own kind, in the order of the benchmarks', () => {
  const before = { tail: entry('tail'), quote: entry('quote'), gone: entry('gone') }
  const merged = merge(before, { quote: entry('quote again') }, ['quote', 'reads', 'tail'])
  expect(Object.entries(merged).map(([name, { about }]) => [name, about])).toEqual([
    ['quote', 'quote again'],
    ['tail', 'tail'],
  ])
  expect(JSON.parse(asJson(merged))).toEqual(merged)
})

test('a table has a column for each name in any row, with figures on the right', () => {
  expect(
    table([
      { solvers: 1, server: 'a|b', ratio: 0.98765 },
      { solvers: 'each one more', cpu: 0.5 },
    ]),
  ).toBe(
    [
      '| solvers | server | ratio | cpu |',
      '| --- | --- | --: | --: |',
      '| 1 | a\\|b | 0.988 |  |',
      '| each one more |  |  | 0.5 |',
    ].join('\n'),
  )
})

test('the page has each benchmark with its run, pictures, table and findings', () => {
  const report = { quote: entry('Quotes.'), tail: entry('Tails.'), reads: entry('Reads.', 'def5678') }
  const text = page(report, { quote: [{ path: 'docs/a.svg', title: 'A' }] })
  const machine = 'A processor, 2 cores, 8 GiB, linux x64, Node v20.19.0'
  expect(text).toContain(`- quote, tail: ${machine}; commit abc1234; 2026-01-02\n`)
  expect(text).toContain(`- reads: ${machine}; commit def5678; 2026-01-02\n`)
  expect(text).toContain('## quote\n\nQuotes.\n\n![A](docs/a.svg)\n\n| server | quotes/s |\n')
  expect(text).toContain('| limit | 1235 |')
  expect(text).toContain('| throughput | 0.75 | at least 0.8 | MISSED |')
  expect(text.match(/!\[/g)).toHaveLength(1)
})
