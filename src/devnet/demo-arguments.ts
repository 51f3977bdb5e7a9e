import { parseArgs } from 'node:util'

/** How the demo is to be played. */
export interface DemoArguments {
  /** Ends after the story. */
  readonly once: boolean
  /** Undefined when the service is to run in the demo's own process. */
  readonly replicas: number | undefined
}

const USAGE = `Plays a few swaps on a local network, then keeps the network up.
  npm run demo                    until Ctrl-C
  npm run demo -- --once          ends after the story: exit code 0, or 1 when anything went wrong
  npm run demo -- --replicas 3    with 2 to 9 replicas of the service on PostgreSQL, one of which is killed`

/**
 * Reads the demo's command line.
 * @param args what follows the program's name
 * @throws Error that says what is wrong, and how the demo is used
 */
export function readDemoArguments(args: readonly string[]): DemoArguments {
  const options = { once: { type: 'boolean', default: false }, replicas: { type: 'string' } } as const
  try {
    const { once, replicas } = parseArgs({ args: [...args], options }).values
    return { once, replicas: replicas === undefined ? undefined : readCount(replicas) }
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${USAGE}`)
  }
}

function readCount(text: string): number {
  if (!/^[2-9]$/.test(text)) throw new Error(`--replicas is "${text}": it must be an integer of 2 to 9`)
  return Number(text)
}
