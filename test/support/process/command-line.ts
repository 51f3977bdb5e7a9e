import type { CliIo } from '../../../packages/cli/src/io.js'
import type { Environment } from '../../../src/config/environment.js'
import { run } from '../../../src/operator/program.js'

/** How a command line ended. */
export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

interface CommandLineOptions {
  readonly environment?: Environment
  readonly stdin?: string
  readonly isTTY?: boolean
  /** Width of the terminal. */
  readonly columns?: number
}

/** Runs a command line in this process, and gives what it has written so far. */
export function startCommandLine(argv: readonly string[], options: CommandLineOptions = {}) {
  const { environment = {}, stdin = '', isTTY = false, columns } = options
  const written = { stdout: '', stderr: '' }
  const interruption = new AbortController()
  const listeners: ((text: string) => void)[] = []
  const outputTo = (name: keyof typeof written) => ({
    isTTY,
    columns,
    write(text: string) {
      written[name] += text
      if (name === 'stderr') for (const listener of listeners) listener(text)
    },
  })
  async function* input() {
    yield Buffer.from(stdin)
  }
  const io: CliIo = {
    stdout: outputTo('stdout'),
    stderr: outputTo('stderr'),
    stdin: Object.assign(input(), { isTTY }),
    environment: () => environment,
    interruption: () => interruption.signal,
  }
  const ended = run(argv, io).then((code): Ended => ({ code, ...written }))
  return {
    written,
    ended,
    interrupt: () => interruption.abort(),
    /** Adds a listener to what it writes to standard error. */
    onStderr: (listener: (text: string) => void) => void listeners.push(listener),
  }
}

/** Runs a command line to its end. */
export function commandLine(argv: readonly string[], options?: CommandLineOptions): Promise<Ended> {
  return startCommandLine(argv, options).ended
}
