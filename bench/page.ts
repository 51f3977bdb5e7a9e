import type { Finding, Row } from './benchmark.js'
import { thresholdsOf, verdictOn } from './check.js'
import { type Entry, type Report, type Run, rounded } from './report.js'

/** The page with the results, in Markdown. */
export function page(report: Report): string {
  return [
    '# Benchmarks',
    'What the service adds to the work that every such service must do. A limit is a server that does only that ' +
      'work, measured in the same run. Everything runs on one machine over 127.0.0.1: the service as `npm start` runs ' +
      'it, the local chain, the solvers and the callers share its cores. So compare figures only within their table.',
    '```\nnpm run bench                    all of them\nnpm run bench -- quote tail      some of them\n' +
      'npm run bench -- --check         fails when a figure is beyond its threshold\n' +
      'npm run bench -- --record        writes this page\n```',
    '## Where and when',
    runs(report),
    ...Object.entries(report).flatMap(([name, entry]) => section(name, entry)),
    '',
  ].join('\n\n')
}

/** A line for each machine, commit and day, with the benchmarks that ran there. */
function runs(report: Report): string {
  const names = new Map<string, string[]>()
  for (const [name, { run }] of Object.entries(report)) {
    const key = describe(run)
    names.set(key, [...(names.get(key) ?? []), name])
  }
  return [...names].map(([run, benchmarks]) => `- ${benchmarks.join(', ')}: ${run}`).join('\n')
}

function describe({ date, commit, cpu, cores, memoryGiB, node, platform }: Run): string {
  return `${cpu}, ${cores} cores, ${memoryGiB} GiB, ${platform}, Node ${node}; commit ${commit}; ${date.slice(0, 10)}`
}

function section(name: string, { about, rows, findings }: Entry): string[] {
  return [
    `## ${name}`,
    about,
    table(rows),
    ...(findings.length === 0 ? [] : [table(findings.map(findingRow))]),
  ]
}

function findingRow(finding: Finding): Row {
  return {
    finding: finding.name,
    value: finding.value,
    threshold: thresholdsOf(finding),
    '': verdictOn(finding),
  }
}

/** Rows as a Markdown table, with a column for each name in any of them. */
export function table(rows: readonly Row[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const isNumeric = (column: string) => rows.every((row) => typeof (row[column] ?? 0) === 'number')
  const tableLine = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [
    tableLine(columns),
    tableLine(columns.map((column) => (isNumeric(column) ? '--:' : '---'))),
    ...rows.map((row) => tableLine(columns.map((column) => cell(row[column])))),
  ].join('\n')
}

function cell(value: string | number | undefined): string {
  if (value === undefined) return ''
  return typeof value === 'number' ? String(rounded(value)) : value.replaceAll('|', '\\|')
}
