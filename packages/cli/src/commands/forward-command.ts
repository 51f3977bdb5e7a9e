import { once } from 'node:events'
import { createServer } from 'node:http'
import type { OrderEvent } from '@quote-aggregator/client'
import type { Command } from 'commander'
import { systemClock as clock } from '../../../protocol/src/clock.js'
import { readInteger, readOneOf, readPort } from '../arguments.js'
import { type Instance, readUrl, takesInstance } from '../called-instance.js'
import { CommandFailure } from '../command-failure.js'
import { type EventSelection, selectsEvents, toEventFilter } from '../event-selection.js'
import type { Beginning } from '../forward/place.js'
import type { CliIo } from '../io.js'
import { readSecretFile } from '../solver-key.js'

interface Options extends EventSelection {
  readonly to: string
  readonly secretFile: string
  readonly state: string
  readonly from: Beginning
  readonly confirmations: number
  readonly metricsPort?: number
}

const MAX_CONFIRMATIONS = 100_000

const HELP = `
Exit code 1: nothing was taken for three days, or an error that may pass. 2: wrong usage, or the receiver answers 410.
3: the place in the event log is lost. After 2 and 3, another start does not help: see docs/webhooks.md.`

/** `forward`: sends each order event to a URL, as a signed webhook (docs/decisions.md, D34). */
export function addForward(program: Command, io: CliIo): void {
  const command = program
    .command('forward')
    .description('Sends each order event to a URL as a signed webhook, in order and at least once.')
    .requiredOption('--to <url>', 'where to send them')
    .requiredOption('--secret-file <path>', 'file with the secret, whsec_…; with two during a rotation')
    .requiredOption('--state <path>', 'file that keeps the place in the event log')
    .option('--from <place>', 'without that file: where to begin', readOneOf(['now', 'beginning']))
    .option('--confirmations <n>', 'blocks over an event', readInteger(0, MAX_CONFIRMATIONS), 0)
    .option('--metrics-port <port>', 'serve metrics at this port of 127.0.0.1', readPort)
    .addHelpText('after', HELP)
  takesInstance(selectsEvents(command), io, (instance, options: Options) => forward(io, instance, options))
}

async function forward(io: CliIo, instance: Instance, options: Options): Promise<void> {
  const { createPost, deliver, ENDED, parseSecrets } = await import('../forward/webhook.js')
  const { readPlace, writePlace } = await import('../forward/place.js')
  const { forwardEvents } = await import('../forward/forward-events.js')
  const { secretFile, state, confirmations } = options
  const secrets = parseSecrets(await readSecretFile(io, '--secret-file', secretFile))
  const post = createPost(readUrl('--to', options.to).href, secrets, clock)
  const filter = { ...toEventFilter(options), after: await readPlace(state, options.from) }
  const counts = { delivered_total: 0, failed_attempts_total: 0, lost_connections_total: 0 }
  const count = (name: keyof typeof counts, words: string) => {
    counts[name]++
    io.stderr.write(`${words}\n`)
  }
  const close = await serveCounts(options.metricsPort, counts)
  const printed = instance.printEach(
    async function* (client, { signal }) {
      const pause = (ms: number, failure: string) => {
        count('failed_attempts_total', failure)
        return clock.sleep(ms, signal)
      }
      const send = (event: OrderEvent) => deliver(event, post, clock, pause)
      const keep = (cursor: string) => writePlace(state, cursor)
      const onLost = ({ message }: Error) => count('lost_connections_total', `Reconnecting. ${message}`)
      try {
        const forwarding = { client, filter, confirmations, clock, signal, send, keep, onLost }
        for await (const event of forwardEvents(forwarding)) {
          counts.delivered_total++
          yield event
        }
      } catch (error) {
        const { reason, message } = Object(error)
        if (signal.aborted) return
        if (reason === undefined || reason === 'INVALID_ARGUMENT') throw error
        // An error that may pass must not have the exit code of a lost place.
        throw new CommandFailure(reason === 'CURSOR_UNKNOWN' ? ENDED.placeLost : ENDED.passing, message)
      }
    },
    ({ type, chainId, orderId }) => `${type}  chain ${chainId}  order ${orderId}`,
  )
  await printed.finally(close)
}

/** Serves counts in the text format of Prometheus. @returns closes the port */
async function serveCounts(port: number | undefined, counts: object): Promise<() => void> {
  const server = createServer((_request, response) => {
    const lines = Object.entries(counts).map(([name, count]) => `forward_${name} ${count}\n`)
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(lines.join(''))
  })
  if (port !== undefined) await once(server.listen(port, '127.0.0.1'), 'listening')
  return () => void server.close().closeAllConnections()
}
