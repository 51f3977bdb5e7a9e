import stringWidth from 'string-width'
import { printable } from './printable.js'

const GAP = '  '

/** The text of a cell; a number is right-aligned, and a missing one is empty. */
type Cell = string | number | undefined

/**
 * A column of a table: its title, and the cell of a row. One of amounts is right-aligned as numbers are; a minor one is left out where
 * the table is too wide with it.
 */
export type Column<T> = readonly [
  title: string,
  cell: (row: T, index: number) => Cell,
  kind?: 'amount' | 'minor',
]

/** A name and its value. A value that is missing leaves the name out. */
export type Field = readonly [name: string, value: Cell]

interface TableOptions {
  /** Columns of the terminal; no limit when left out. */
  readonly width?: number
  /** Formats the titles. */
  readonly emphasise?: (text: string) => string
}

/**
 * A table in aligned columns without lines, which `awk` can read too. Where it does not fit with its minor columns, it has none
 * of them. Text of others is made printable.
 */
export function renderTable<T>(
  columns: readonly Column<T>[],
  rows: readonly T[],
  { width = Number.POSITIVE_INFINITY, emphasise = (text) => text }: TableOptions = {},
): string {
  const measured = columns.map(([title, cell, kind]) => {
    const values = rows.map(cell)
    const cells = values.map((value) => printable(String(value ?? '')))
    const isRight = kind === 'amount' || values.some((value) => typeof value === 'number')
    return {
      title,
      kind,
      cells,
      isRight,
      width: Math.max(...[title, ...cells].map((text) => stringWidth(text))),
    }
  })
  const whole = measured.reduce((sum, column) => sum + column.width + GAP.length, -GAP.length)
  const fitting = whole <= width ? measured : measured.filter(({ kind }) => kind !== 'minor')
  const toLine = (textOf: (column: (typeof measured)[number]) => string) => {
    const texts = fitting.map((column) => {
      const blanks = ' '.repeat(column.width - stringWidth(textOf(column)))
      return column.isRight ? blanks + textOf(column) : textOf(column) + blanks
    })
    return `${texts.join(GAP).trimEnd()}\n`
  }
  const head = toLine(({ title }) => emphasise(title))
  return head + rows.map((_, row) => toLine(({ cells }) => cells[row] ?? '')).join('')
}

/** Names and values, one pair a line. */
export function renderFields(fields: readonly Field[]): string {
  const known = fields.filter(([, value]) => value !== undefined)
  const indent = Math.max(...known.map(([name]) => name.length)) + GAP.length
  return known.map(([name, value]) => `${name.padEnd(indent)}${printable(String(value))}\n`).join('')
}
