/** What became of a case. */
export type Verdict =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'not applicable'; readonly reason: string }

/** A case, with the name of the judge whose row it belongs to. */
export interface JudgedCase {
  readonly judge: string
  readonly verdict: Verdict
}

const KINDS: readonly Verdict['kind'][] = ['passed', 'failed', 'not applicable']
/** A row shows so many reasons of failures; the rest are many times the same. */
const MAX_FAILURES = 5

/**
 * Builds a row for each judge: how many cases it has, passed, failed and not applicable, and why.
 * @returns lines of text
 */
export function tableOf(cases: readonly JudgedCase[]): string[] {
  const judges = groupBy(cases, ({ judge }) => judge)
  const width = Math.max(...[...judges.keys()].map(({ length }) => length)) + 2
  const line = (name: string, cells: readonly (string | number)[]) =>
    [name.padEnd(width), ...cells.map((cell) => String(cell).padStart(9))].join('')
  const lines = [line('judge', ['cases', 'passed', 'failed', 'n/a'])]
  for (const [judge, of] of [...judges, ['all', cases] as const]) {
    const counts = KINDS.map((kind) => of.filter(({ verdict }) => verdict.kind === kind).length)
    lines.push(line(judge, [of.length, ...counts]))
    if (judge !== 'all') lines.push(...reasonsOf(of).map((reason) => `    ${reason}`))
  }
  return lines
}

function reasonsOf(cases: readonly JudgedCase[]): string[] {
  const reasons = (kind: Verdict['kind']) => {
    const of = cases.flatMap(({ verdict }) =>
      verdict.kind === kind && 'reason' in verdict ? [verdict.reason] : [],
    )
    return [...groupBy(of, (reason) => reason)].map(([reason, { length }]) => `${length} ${kind}: ${reason}`)
  }
  const failures = reasons('failed')
  const more = failures.length - MAX_FAILURES
  return [
    ...failures.slice(0, MAX_FAILURES),
    ...(more > 0 ? [`${more} other failures`] : []),
    ...reasons('not applicable'),
  ]
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return groups
}
