import { printableLines } from './output/printable.js'

/** An output for text. */
export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  /** Width of the terminal. */
  readonly columns?: number | undefined
}

/** An input for text. */
export interface Input extends AsyncIterable<string | Uint8Array> {
  readonly isTTY?: boolean
}

/** The environment of a command: that of the process, or of a test. */
export interface CliIo {
  /** Only the requested result. */
  readonly stdout: Output
  /** Everything else: messages, warnings, errors. */
  readonly stderr: Output
  readonly stdin: Input
  /** The variables, with those of a file `.env`. */
  readonly environment: () => NodeJS.ProcessEnv
  /**
   * Aborts when the user ends the command (Ctrl-C, SIGTERM, SIGHUP). After the first call, the signals do nothing
   * else.
   */
  readonly interruption: () => AbortSignal
}

/** Colours of a terminal, by their SGR codes (ECMA-48). */
const STYLES = { bold: 1, red: 31, green: 32, yellow: 33 } as const

/** Colours text, or returns it unchanged. */
type Paint = (style: keyof typeof STYLES, text: string) => string

/** Colours only for terminals, unless `NO_COLOR` is set (no-color.org) or the terminal has none. */
export function createPaint(output: Output, environment: NodeJS.ProcessEnv): Paint {
  const isPlain = !output.isTTY || environment.NO_COLOR || environment.TERM === 'dumb'
  return (style, text) => (isPlain ? text : `\x1b[${STYLES[style]}m${text}\x1b[0m`)
}

/** The colours of `createPaint` in a text. */
const OWN_STYLE = new RegExp(`(\\x1b\\[(?:0|${Object.values(STYLES).join('|')})m)`)

/**
 * An output that drops everything that a terminal obeys, except the colours and line feeds of this program.
 */
export function guardOutput(output: Output): Output {
  const { isTTY = false } = output
  return {
    isTTY,
    get columns() {
      return output.columns
    },
    write(text) {
      const parts = text.split(OWN_STYLE)
      return output.write(
        parts.map((part, index) => (index % 2 === 1 ? part : printableLines(part))).join(''),
      )
    },
  }
}
