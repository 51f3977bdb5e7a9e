import stringWidth from 'string-width'
import { printable } from './printable.js'

const GAP = '  '

export interface Column {
  readonly title: string
  /** Numbers are right-aligned. The default is left-aligned text. */
  readonly align?: 'left' | 'right'
  /** Left out where the table is too wide with it. */
  readonly isMinor?: boolean
}

/** A name and its value. A value that is missing leaves the name out; a command is one that a person copies. */
export type Field = readonly [name: string, value: string | undefined, kind?: 'command']

interface TableOptions {
  /** Columns of the terminal; no limit when left out. */
  readonly width?: number
  /** Formats the titles. */
  readonly emphasise?: (text: string) => string
}

/**
 * A table in aligned columns without lines, which `awk` can read too. Where it does not fit with its minor columns, it has none
 * of them, and where it does not fit without, each row is a block of fields.
 * @param rows cells in the columns' order; text of others is made printable
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { width = Number.POSITIVE_INFINITY, emphasise = (text) => text }: TableOptions = {},
): string {
  const measured = columns.map((column, index) => {
    const cells = rows.map((row) => printable(row[index] ?? ''))
    return { ...column, cells, width: Math.max(...[column.title, ...cells].map((text) => stringWidth(text))) }
  })
  const major = measured.filter(({ isMinor }) => !isMinor)
  const fitting = [measured, major].find((list) => {
    const gaps = GAP.length * (list.length - 1)
    return list.reduce((sum, column) => sum + column.width, gaps) <= width
  })
  if (fitting === undefined) {
    const blocks = rows.map((row) =>
      columns.map(({ title }, index): Field => [title, row[index] || undefined]),
    )
    return blocks.map((fields) => renderFields(fields, width)).join('\n')
  }
  const toLine = (textOf: (column: (typeof measured)[number]) => string) => {
    const texts = fitting.map((column) => {
      const blanks = ' '.repeat(column.width - stringWidth(textOf(column)))
      return column.align === 'right' ? blanks + textOf(column) : textOf(column) + blanks
    })
    return `${texts.join(GAP).trimEnd()}\n`
  }
  const head = toLine(({ title }) => emphasise(title))
  return head + rows.map((_, index) => toLine(({ cells }) => cells[index] ?? '')).join('')
}

/**
 * Names and values, one pair a line.
 * @param width columns of the terminal, into which commands are folded
 */
export function renderFields(fields: readonly Field[], width = Number.POSITIVE_INFINITY): string {
  const known = fields.filter(([, value]) => value !== undefined)
  const indent = Math.max(...known.map(([name]) => name.length)) + GAP.length
  return known
    .map(([name, value = '', kind]) => {
      const text = printable(value)
      const lines = kind === 'command' ? foldCommand(text, width - indent) : [text]
      return `${name.padEnd(indent)}${lines.join(`\n${' '.repeat(indent)}`)}\n`
    })
    .join('')
}

/** The words of a shell. A quoted blank does not end one. */
const WORDS = /(?:\\.|'[^']*'|[^' \\])+/g
const CONTINUED = ' \\'

/** A command line on as many lines as it needs. A shell takes them together as one, as a terminal's own breaks might not be. */
function foldCommand(text: string, room: number): string[] {
  const lines: string[] = []
  for (const word of text.match(WORDS) ?? []) {
    const last = lines.at(-1)
    if (last === undefined || `${last} ${word}${CONTINUED}`.length > room) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines.map((line, index) => (index < lines.length - 1 ? line + CONTINUED : line))
}
