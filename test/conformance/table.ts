import type { CaseResult, Outcome } from './run.js'

const KINDS: readonly Outcome['kind'][] = ['passed', 'failed', 'not applicable']

/** Prints how many cases of each row passed, failed and do not apply. */
export function printTable(results: readonly CaseResult[], rowOf: (result: CaseResult) => string): void {
  const rows = new Map<string, CaseResult[]>()
  for (const result of results) {
    const row = rowOf(result)
    rows.set(row, [...(rows.get(row) ?? []), result])
  }
  const line = (name: string, cells: readonly (string | number)[]) =>
    console.log([name.padEnd(24), ...cells.map((cell) => String(cell).padStart(15))].join(''))
  line('', ['cases', ...KINDS])
  const cellsOf = (of: readonly CaseResult[]) => [
    of.length,
    ...KINDS.map((kind) => of.filter(({ outcome }) => outcome.kind === kind).length),
  ]
  for (const [name, of] of [...rows].sort(([a], [b]) => a.localeCompare(b))) line(name, cellsOf(of))
  line('all', cellsOf(results))
}

/** Counts items by a key. Those without one do not count. */
export function countBy<T>(items: readonly T[], keyOf: (item: T) => string | undefined): Map<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) {
    const key = keyOf(item)
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}
