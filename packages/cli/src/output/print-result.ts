import { type CliIo, createPaint } from '../io.js'
import { toJson } from './printable.js'
import { type Column, renderFields, renderTable } from './tables.js'

/** The marks of checks, with their colours. */
const MARKS = {
  ok: ['ok  ', 'green'],
  pass: ['pass', 'green'],
  warn: ['warn', 'yellow'],
  fail: ['FAIL', 'red'],
} as const

/** The formatters for a person's output. */
export type Display = ReturnType<typeof createDisplay>

/**
 * Writes the result of a command: one JSON document with `--json`, else what `render` makes of it.
 * @param render text that ends in a line feed
 */
export async function printResult(
  io: CliIo,
  { json }: { readonly json?: boolean },
  result: unknown,
  render: (display: Display) => string | Promise<string>,
): Promise<void> {
  io.stdout.write(json ? `${toJson(result, 2)}\n` : await render(createDisplay(io)))
}

/** The formatters for the standard output. */
export function createDisplay({ stdout, environment }: CliIo) {
  const paint = createPaint(stdout, environment())
  const emphasise = (text: string) => paint('bold', text)
  // A terminal may change its size. What a program reads is not cut.
  const width = () => (stdout.isTTY ? stdout.columns : undefined)
  return {
    mark(status: keyof typeof MARKS): string {
      const [text, colour] = MARKS[status]
      return paint(colour, text)
    },
    table: <T>(columns: readonly Column<T>[], rows: readonly T[]) =>
      renderTable(columns, rows, { width: width(), emphasise }),
    fields: renderFields,
  }
}
