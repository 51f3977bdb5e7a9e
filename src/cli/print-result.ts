import { type CliIo, createPaint } from './io.js'
import { toJson } from './printable.js'
import type { Column, Field } from './tables.js'

/** The formatters for a person's output. */
export interface Display {
  table(columns: readonly Column[], rows: readonly (readonly string[])[]): string
  fields(fields: readonly Field[]): string
}

/**
 * Writes the result of a command: one JSON document with `--json`, else what `render` makes of it.
 * @param render text that ends in a line feed
 */
export async function printResult(
  io: CliIo,
  { json }: { readonly json?: boolean },
  result: unknown,
  render: (display: Display) => string,
): Promise<void> {
  if (json) {
    io.stdout.write(`${toJson(result, 2)}\n`)
    return
  }
  io.stdout.write(render(await createDisplay(io)))
}

/** The formatters for the standard output. */
export async function createDisplay(io: CliIo): Promise<Display> {
  const { renderFields, renderTable } = await import('./tables.js')
  const paint = createPaint(io.stdout, io.environment())
  const emphasise = (text: string) => paint('bold', text)
  // A terminal may change its size. What a program reads is not cut.
  const width = () => (io.stdout.isTTY ? io.stdout.columns : undefined)
  return {
    table: (columns, rows) => renderTable(columns, rows, { width: width(), emphasise }),
    fields: (fields) => renderFields(fields, width()),
  }
}
