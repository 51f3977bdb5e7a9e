import { parseArgs } from 'node:util'

/** How the demo is to be played. */
export interface DemoArguments {
  /** Ends after the story. */
  readonly once: boolean
  /** Undefined when the service is to run in the demo's own process. */
  readonly replicas: number | undefined
  /** The service's port on 127.0.0.1; undefined for the usual one, or any free one where that is taken. */
  readonly port: number | undefined
  /** Only says how the demo is used. */
  readonly help: boolean
}

/** How the demo is used. */
export const USAGE = `Plays a few swaps on a local network, then keeps the network up.
  npm run demo                    until Ctrl-C
  npm run demo -- --once          ends after the story: exit code 0, or 1 when anything went wrong
  npm run demo -- --replicas 3    with 2 to 9 replicas of the service on PostgreSQL, one of which is killed
  npm run demo -- --port 8080     with the service at this port; a replica after the first takes the next one
  npm run demo -- --help          prints this
The usual ports are 3000 for the service, 8545 for the chain and 4001 to 4003 for the solvers. Where one is taken, the demo
takes a free one and says so.`

/**
 * Reads the demo's command line.
 * @param args what follows the program's name
 * @throws Error that says what is wrong, and how the demo is used
 */
export function readDemoArguments(args: readonly string[]): DemoArguments {
  const options = {
    once: { type: 'boolean', default: false },
    replicas: { type: 'string' },
    port: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  } as const
  try {
    const { once, replicas, port, help } = parseArgs({ args: [...args], options }).values
    return {
      once,
      replicas: replicas === undefined ? undefined : readCount(replicas),
      port: port === undefined ? undefined : readPort(port),
      help,
    }
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${USAGE}`)
  }
}

function readCount(text: string): number {
  if (!/^[2-9]$/.test(text)) throw new Error(`--replicas is "${text}": it must be an integer of 2 to 9`)
  return Number(text)
}

function readPort(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new Error(`--port is "${text}": it must be an integer of 1 to 65535`)
}
