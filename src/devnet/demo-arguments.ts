import { parseArgs } from 'node:util'

/** The options of the demo. */
export interface DemoArguments {
  /** Ends after the story. */
  readonly once: boolean
  /** How many replicas; undefined for a service in the demo's own process. */
  readonly replicas: number | undefined
  /** The service's port on 127.0.0.1; undefined for the usual one, or any free one where that is taken. */
  readonly port: number | undefined
  /** Keeps a little traffic going after the story. */
  readonly traffic: boolean
  /** Only prints how the demo is used. */
  readonly help: boolean
}

/** How the demo is used. */
export const USAGE = `Plays a few swaps on a local network, then keeps the network up.
  npm run demo                    until Ctrl-C
  npm run demo -- --once          ends after the story: exit code 0, or 1 when anything went wrong
  npm run demo -- --replicas 3    with 2 to 9 replicas of the service on PostgreSQL, one of which is killed
  npm run demo -- --traffic       goes on with an order every few seconds, so that the console has something to show
  npm run demo -- --port 8080     with the service at this port; a replica after the first takes the next one
  npm run demo -- --help          prints this
The usual ports are 3000 for the service, 8545 for the chain, 4001 and 4002 for two solvers; the third one connects to the
service. Where one is taken, the demo takes a free one and prints its address. The chain and the solvers leave the ports of --port to the service.`

/**
 * Reads the demo's command line.
 * @param args what follows the program's name
 * @throws Error with what is wrong and how the demo is used
 */
export function readDemoArguments(args: readonly string[]): DemoArguments {
  const options = {
    once: { type: 'boolean', default: false },
    traffic: { type: 'boolean', default: false },
    replicas: { type: 'string' },
    port: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  } as const
  try {
    const { values } = parseArgs({ args: [...args], options })
    const replicas = values.replicas === undefined ? undefined : readCount(values.replicas)
    const port = values.port === undefined ? undefined : readPort(values.port, replicas)
    return { once: values.once, replicas, port, traffic: values.traffic, help: values.help }
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${USAGE}`)
  }
}

function readCount(text: string): number {
  if (!/^[2-9]$/.test(text)) throw new Error(`--replicas is "${text}": it must be an integer of 2 to 9`)
  return Number(text)
}

/** @param replicas each of which takes a port */
function readPort(text: string, replicas = 1): number {
  const highest = 65_536 - replicas
  if (/^[1-9]\d{0,4}$/.test(text) && Number(text) <= highest) return Number(text)
  throw new Error(`--port is "${text}": it must be an integer of 1 to ${highest}`)
}
