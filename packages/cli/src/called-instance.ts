import type { Command } from 'commander'
import { badInput, CommandFailure, toFailure } from './command-failure.js'
import { EXIT } from './exit-codes.js'
import type { CliIo } from './io.js'
import { type CallInstance, createAmounts, type Work } from './output/amounts.js'
import { createDisplay, type Display, printResult } from './output/print-result.js'
import { shellWord, toJson } from './output/printable.js'

export interface InstanceFlags {
  readonly url?: string
  readonly json?: boolean
  readonly chain?: number | readonly number[]
}

/** The instance that a command calls, and the output of what it answers. */
export type Instance = ReturnType<typeof openInstance>

/** Makes text of an answer that ends in a line feed. */
type Render<T> = (answer: T, display: Display) => string | Promise<string>

const USUAL_URL = 'http://localhost:3000'
/** The usual `--limit` of items, and the highest one. Its pages fit into the requests that an instance allows in a minute. */
export const LIMITS = { usual: 20, most: 10_000 }

/** Adds the options of a command that calls an instance, and prints what it answers. @param run gets the instance, the options and the command's argument */
export function takesInstance<Options extends InstanceFlags, Argument = never>(
  command: Command,
  io: CliIo,
  run: (instance: Instance, options: Options, argument: Argument) => Promise<unknown>,
): Command {
  callsInstance(command, io, run)
  return command.option('--json', 'JSON on standard output, for scripts; amounts are decimal strings')
}

/** Adds the options of a command that calls an instance. @param run gets the instance, the options and the command's argument */
export function callsInstance<Options extends Pick<InstanceFlags, 'url'>, Argument = never>(
  command: Command,
  io: CliIo,
  run: (instance: Instance, options: Options, argument: Argument) => Promise<unknown>,
): Command {
  return command
    .option('--url <url>', `the instance; AGGREGATOR_URL when not given, else ${USUAL_URL}`)
    .action(async () => {
      const options = command.opts<Options>()
      await run(openInstance(io, options), options, command.processedArgs[0])
    })
}

function openInstance(io: CliIo, options: InstanceFlags) {
  const url = instanceUrl(io, options)
  const signal = io.interruption()
  const { stdout, stderr } = io
  const apiKey = io.environment().AGGREGATOR_API_KEY?.trim()

  /** A command line that a person can copy: another command for the same instance and chain. @param command with its own arguments */
  function commandLine(command: string): string {
    const words = ['npx quote-aggregator', command]
    if (typeof options.chain === 'number') words.push(`--chain ${options.chain}`)
    if (url !== USUAL_URL) words.push(`--url ${shellWord(url)}`)
    return words.join(' ')
  }

  const call: CallInstance = async (work) => {
    const { AggregatorError, createAggregatorClient } = await import('@quote-aggregator/client')
    try {
      return await work(createAggregatorClient({ baseUrl: url, apiKey }), { signal })
    } catch (error) {
      throw error instanceof AggregatorError ? toFailure(error, commandLine) : error
    }
  }

  return {
    /** Base URL, as it may be printed. */
    url,
    amounts: createAmounts(call),
    commandLine,
    /** Calls it, prints the answer as `printResult` does, and returns it. */
    async print<T>(work: Work<Promise<T>>, render: Render<T>): Promise<T> {
      const answer = await call(work)
      await printResult(io, options, answer, (display) => render(answer, display))
      return answer
    },
    /** Prints each item of a stream as it comes: its JSON or a text, on a line. */
    printEach: <T>(work: Work<AsyncIterable<T>>, toLine: (item: T) => string | Promise<string>) =>
      call(async (client, calling) => {
        for await (const item of work(client, calling))
          stdout.write(`${options.json ? toJson(item) : await toLine(item)}\n`)
      }),
    /**
     * Prints a list of several pages, up to a limit: with `--json` each item on a line as it comes, else as one text. Those of earlier
     * pages are printed also when a later one fails.
     * @param name of the items
     * @param work gives the items; it may give more
     */
    async printList<T>(
      name: string,
      limit: number,
      work: Work<AsyncIterable<T>>,
      render: Render<readonly T[]>,
    ): Promise<void> {
      const items: T[] = []
      let isCut = false
      const [reading] = await Promise.allSettled([
        call(async (client, calling) => {
          for await (const item of work(client, calling)) {
            isCut = items.length === limit
            if (isCut) break
            items.push(item)
            if (options.json) stdout.write(`${toJson(item)}\n`)
          }
        }),
      ])
      if (!options.json && (reading.status === 'fulfilled' || items.length > 0))
        stdout.write(await render(items, createDisplay(io)))
      if (reading.status === 'rejected') throw reading.reason
      if (isCut) stderr.write(`There are more ${name}: list more with --limit, up to ${LIMITS.most}.\n`)
    },
    /** @throws CommandFailure when the user has ended the command */
    assertNotInterrupted(): void {
      if (signal.aborted) throw new CommandFailure(EXIT.interrupted)
    },
  }
}

function instanceUrl(io: CliIo, options: InstanceFlags): string {
  const text = options.url ?? (io.environment().AGGREGATOR_URL || USUAL_URL)
  const url = readUrl('--url or AGGREGATOR_URL', text.trim())
  return (url.origin + url.pathname).replace(/\/+$/, '')
}

/** Reads a URL of HTTP. @param option names it @throws CommandFailure */
export function readUrl(option: string, text: string): URL {
  const mustBe = (words: string) => badInput(`${option} must ${words}.`)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw mustBe(`be an http or https URL, such as ${USUAL_URL}`)
  if (url.username !== '' || url.password !== '') throw mustBe('have no user name and no password')
  return url
}
