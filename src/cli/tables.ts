import Table from 'cli-table3'
import { printable } from './printable.js'

const GAP = '  '
/** No lines at all: `awk` can read the table too. */
const NO_LINES = Object.fromEntries(
  [
    'top',
    'top-mid',
    'top-left',
    'top-right',
    'bottom',
    'bottom-mid',
    'bottom-left',
    'bottom-right',
    'left',
    'left-mid',
    'mid',
    'mid-mid',
    'right',
    'right-mid',
  ].map((name) => [name, '']),
)

export interface Column {
  readonly title: string
  /** Numbers are right-aligned. The default is left-aligned text. */
  readonly align?: 'left' | 'right'
}

/**
 * A table in aligned columns, each line ending in a line feed.
 * @param rows cells in the columns' order; text of others is made printable
 * @param emphasise formats the titles
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  emphasise: (text: string) => string = (text) => text,
): string {
  const table = new Table({
    chars: { ...NO_LINES, middle: GAP },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
    colAligns: columns.map(({ align }) => align ?? 'left'),
  })
  table.push(columns.map(({ title }) => emphasise(title)))
  for (const row of rows) table.push(row.map(printable))
  return endLines(table.toString())
}

/** Names and values, one pair a line. Pairs without a value are omitted. */
export function renderFields(
  fields: readonly (readonly [name: string, value: string | undefined])[],
): string {
  const known = fields.filter(([, value]) => value !== undefined)
  const width = Math.max(...known.map(([name]) => name.length))
  return known.map(([name, value]) => `${name.padEnd(width)}${GAP}${printable(value ?? '')}\n`).join('')
}

function endLines(text: string): string {
  return text
    .split('\n')
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}
