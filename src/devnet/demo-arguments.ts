import { parseArgs } from 'node:util'

const HIGHEST_PORT = 65_535

/** The options of the demo. */
export interface DemoArguments {
  /** Ends after the story. */
  readonly once: boolean
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
  npm run demo -- --traffic       goes on with an order every few seconds, so that the console has something to show
  npm run demo -- --port 8080     with the service at this port
  npm run demo -- --help          prints this
The usual ports are 3000 for the service, 8545 for the chain, 4001 and 4002 for two solvers; the third one connects to the
service. Where one is taken, the demo takes a free one and prints its address. The chain and the solvers leave the port of --port to the service.`

/**
 * Reads the demo's command line.
 * @param args what follows the program's name
 * @throws Error with what is wrong and how the demo is used
 */
export function readDemoArguments(args: readonly string[]): DemoArguments {
  const options = {
    once: { type: 'boolean', default: false },
    traffic: { type: 'boolean', default: false },
    port: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  } as const
  try {
    const { values } = parseArgs({ args: [...args], options })
    const port = values.port === undefined ? undefined : readPort(values.port)
    return { once: values.once, port, traffic: values.traffic, help: values.help }
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${USAGE}`)
  }
}

function readPort(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text) && Number(text) <= HIGHEST_PORT) return Number(text)
  throw new Error(`--port is "${text}": it must be an integer of 1 to ${HIGHEST_PORT}`)
}
