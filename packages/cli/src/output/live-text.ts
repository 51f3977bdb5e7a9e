import { stripVTControlCharacters } from 'node:util'
import type { GuardedOutput } from '../io.js'

/** A text on a terminal that changes in its place. */
export interface LiveText {
  /** Writes a text in the place of the last one, as far as it fits on the screen. */
  replace(text: string): void
  /** Leaves the whole of the last text on the terminal. */
  end(): void
}

/** Size of a terminal that does not say it. */
const USUAL_COLUMNS = 80
const USUAL_ROWS = 24

/** Whether the output is a terminal that can erase what it shows. */
export function canErase({ isTTY }: GuardedOutput, environment: NodeJS.ProcessEnv): boolean {
  return isTTY === true && environment.TERM !== 'dumb'
}

/** @param output a terminal; each text for it ends in a line feed */
export function createLiveText(output: GuardedOutput): LiveText {
  let shownRows = 0
  let last = ''
  return {
    replace(text) {
      const { lines, rows } = fitToScreen(text, output)
      output.eraseRows(shownRows)
      output.write(lines)
      shownRows = rows
      last = text
    },
    end() {
      output.eraseRows(shownRows)
      output.write(last)
    },
  }
}

/**
 * The first lines of a text that fit on the screen, since a cursor cannot go up to what has left it. A terminal breaks lines that
 * are longer than a row.
 */
function fitToScreen(text: string, output: GuardedOutput): { readonly lines: string; readonly rows: number } {
  const { columns = USUAL_COLUMNS, rows: height = USUAL_ROWS } = output
  let lines = ''
  let rows = 0
  for (const line of text.split('\n').slice(0, -1)) {
    const needed = Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns))
    // The cursor is on the row after the text.
    if (rows + needed >= height) break
    lines += `${line}\n`
    rows += needed
  }
  return { lines, rows }
}
