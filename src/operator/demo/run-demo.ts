import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { type Network, startNetwork } from '../../../packages/cli/src/devnet/network.js'
import {
  printAddresses,
  printConsole,
  printWhatToTry,
} from '../../../packages/cli/src/devnet/network-view.js'
import { runScenario } from '../../../packages/cli/src/devnet/scenario.js'
import { runTraffic } from '../../../packages/cli/src/devnet/traffic.js'
import type { Print } from '../../../packages/cli/src/devnet/user-steps.js'
import { buildConsole } from './build-console.js'
import { startServiceInProcess } from './service-in-process.js'

export interface DemoOptions {
  /** Ends after the story. */
  readonly once?: boolean
  /** Keeps a little traffic going after the story. */
  readonly traffic?: boolean
  /** The service's port on 127.0.0.1; the usual one, or any free one where that is taken, when left out. */
  readonly port?: number
  /** The chain's port on 127.0.0.1, and that of the first solver with an endpoint; the usual ones when left out. */
  readonly chainPort?: number
  readonly solverPort?: number
}

/** The story has a refund after this time. It is long enough for solvers whose transactions take seconds, on a busy machine. */
const ENVIRONMENT = {
  DEFAULT_FILL_WINDOW: '12',
  LOG_LEVEL: 'error',
  // The traffic asks from the same address as a person.
  RATE_LIMIT_QUOTE: '120',
  CONSOLE_NOTICE:
    'This is a demo. Some orders are left unfilled on purpose, so that you see refunds. All tokens are play money.',
  ...process.env,
}
/** Ctrl-C ends the chain as well, and a solver may wait for it. After this time, the demo ends without waiting. */
const CLOSING_MS = 5_000
/** Ctrl-C may reach the other processes first. The delay keeps the failures that follow from it off the screen. */
const TROUBLE_DELAY_MS = 200
const PARENT_CHECK_MS = 200

/**
 * Plays a story on a local network, and keeps the network up until the signal is aborted.
 * @param write writes one line
 * @returns when the network is closed
 * @throws Error when the network cannot start, or a step of the story has another result than expected
 */
export async function runDemo(options: DemoOptions, interruption: AbortSignal, write: Print): Promise<void> {
  const signal = withEndOfNpm(interruption)
  const interrupted = signal.aborted ? undefined : once(signal, 'abort')
  let isEnding = false
  const print = (line: string) => {
    if (!isEnding && !signal.aborted) write(line)
  }
  let network: Network | undefined
  async function play(): Promise<void> {
    const hasConsole = await prepareConsole(options, signal, print)
    const printTrouble = (line: string) => void setTimeout(() => print(line), TROUBLE_DELAY_MS)
    network = await startNetwork({
      environment: ENVIRONMENT,
      onError: (error) => printTrouble(`a solver failed: ${error}`),
      startService: (environment) => startServiceInProcess(environment, printTrouble),
      ...options,
      servicePort: options.port,
    })
    if (hasConsole) printConsole(network, print)
    printAddresses(network, print)
    await runScenario(network, print)
    if (options.once) return
    printWhatToTry(network, print)
    if (options.traffic) await runTraffic(network, printTrouble)
    await interrupted
  }
  try {
    await Promise.race([play(), interrupted])
  } finally {
    isEnding = true
    await Promise.race([network?.close(), delay(CLOSING_MS)])
  }
}

/** Npm passes SIGINT and SIGTERM on, but no SIGHUP. A demo that npm has started ends when npm has ended. */
function withEndOfNpm(signal: AbortSignal): AbortSignal {
  if (process.env.npm_lifecycle_event === undefined) return signal
  const ended = new AbortController()
  const parent = process.ppid
  async function watch(): Promise<void> {
    while (process.ppid === parent) await delay(PARENT_CHECK_MS, undefined, { ref: false })
    ended.abort()
  }
  void watch()
  return AbortSignal.any([signal, ended.signal])
}

/** @returns whether the service will have a console. There is none when the demo ends by itself. */
async function prepareConsole({ once }: DemoOptions, signal: AbortSignal, print: Print): Promise<boolean> {
  if (once || process.env.CONSOLE === 'false') return false
  try {
    await buildConsole(() => print('   building the console, once: this takes some seconds'), signal)
    return true
  } catch (error) {
    print(`   the console could not be built, so the demo has none: ${(error as Error).message}`)
    return false
  }
}
