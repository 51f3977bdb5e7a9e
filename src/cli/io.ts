import type { Environment } from '../environment.js'
import { printableLines } from './printable.js'

/** Where text goes. */
export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
}

/** Where text comes from. */
export interface Input extends AsyncIterable<string | Uint8Array> {
  readonly isTTY?: boolean
}

/** What a command has of the world around it: the process's own, or a test's. */
export interface CliIo {
  /** Only what was asked for. */
  readonly stdout: Output
  /** All else: messages, warnings, errors. */
  readonly stderr: Output
  readonly stdin: Input
  /** The variables, with those of a file `.env`. */
  readonly environment: () => Environment
  /** Aborts when the user wants an end (Ctrl-C, SIGTERM); from the first call on, the signals end nothing else. */
  readonly interruption: () => AbortSignal
}

/** Colours that a terminal shows, by their SGR codes (ECMA-48). */
const STYLES = { bold: 1, red: 31, green: 32, yellow: 33 } as const

/** Dresses text up, or leaves it as it is. */
export type Paint = (style: keyof typeof STYLES, text: string) => string

/** Colours are for terminals, unless `NO_COLOR` is set (no-color.org) or the terminal has none. */
export function createPaint(output: Output, environment: Environment): Paint {
  const isPlain = !output.isTTY || environment.NO_COLOR || environment.TERM === 'dumb'
  return (style, text) => (isPlain ? text : `\x1b[${STYLES[style]}m${text}\x1b[0m`)
}

/** The colours of `createPaint`, as they stand in a text. */
const OWN_STYLE = new RegExp(`(\\x1b\\[(?:0|${Object.values(STYLES).join('|')})m)`)

/** An output that lets nothing through that a terminal obeys, but the colours and line feeds of this program. */
export function guardOutput(output: Output): Output {
  const { isTTY = false } = output
  return {
    isTTY,
    write(text) {
      const parts = text.split(OWN_STYLE)
      return output.write(
        parts.map((part, index) => (index % 2 === 1 ? part : printableLines(part))).join(''),
      )
    },
  }
}
