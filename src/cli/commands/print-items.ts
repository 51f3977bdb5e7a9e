import type { AggregatorClient } from '@quote-aggregator/client'
import { callInstance, type InstanceFlags } from '../instance.js'
import type { CliIo } from '../io.js'
import { createDisplay, type Display } from '../print-result.js'
import { toJson } from '../printable.js'

/** The usual `--limit` of items, and the highest one. Its pages fit into the requests that an instance allows in a minute. */
export const LIMITS = { usual: 20, most: 10_000 }

/**
 * Prints a list of several pages, up to a limit: with `--json` each item on a line as it comes, else as one text. Those of earlier
 * pages are printed also when a later one fails.
 * @param name of the items
 * @param read gives the items; it may give more
 */
export async function printItems<T>(
  io: CliIo,
  options: InstanceFlags & { readonly limit: number },
  name: string,
  read: (client: AggregatorClient) => AsyncIterable<T>,
  render: (items: readonly T[], display: Display) => string,
): Promise<void> {
  const items: T[] = []
  let isCut = false
  const reading = callInstance(io, options, async (client) => {
    for await (const item of read(client)) {
      isCut = items.length === options.limit
      if (isCut) break
      items.push(item)
      if (options.json) io.stdout.write(`${toJson(item)}\n`)
    }
  })
  const failure = await reading.then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  const isShown = failure === undefined || items.length > 0
  if (isShown && !options.json) io.stdout.write(render(items, await createDisplay(io)))
  if (failure !== undefined) throw failure.error
  if (isCut) io.stderr.write(`There are more ${name}: list more with --limit, up to ${LIMITS.most}.\n`)
}
