import { setTimeout as delay } from 'node:timers/promises'
import { buildConsole } from './build-console.js'
import { readDemoArguments, USAGE } from './demo-arguments.js'
import { type Network, startNetwork } from './network.js'
import { printAddresses, printConsole, printWhatToTry } from './network-view.js'
import { tryPort } from './preferred-port.js'
import { runScenario } from './scenario.js'
import { runTraffic } from './traffic.js'

/** With a short fill window, the story has a refund after a few seconds. */
const ENVIRONMENT = { DEFAULT_FILL_WINDOW: '5', LOG_LEVEL: 'error', ...process.env }

/** Ctrl-C ends the chain as well, and a solver may wait for it. After this time, the demo ends by force. */
const CLOSING_MS = 5_000

const { once, port, traffic, help } = readArguments()
if (help) {
  process.stdout.write(`${USAGE}\n`)
  process.exit(0)
}
if (port !== undefined && (await tryPort(port).catch(() => undefined)) === undefined) {
  process.stderr.write(`--port is ${port}: it is taken, or not allowed. Name another one.\n`)
  process.exit(2)
}
let network: Network | undefined

let ending: Promise<never> | undefined

/** The first call decides the exit code. Later failures come from parts that are being closed. */
function end(exitCode: number, lastWord = ''): Promise<never> {
  ending ??= (async () => {
    process.stderr.write(lastWord)
    await Promise.race([network?.close(), delay(CLOSING_MS)])
    process.exit(exitCode)
  })()
  return ending
}
function print(line: string): void {
  if (ending === undefined) process.stdout.write(`${line}\n`)
}
process.once('SIGINT', () => void end(0))
process.once('SIGTERM', () => void end(0))
process.once('SIGHUP', () => void end(0))

/** Ctrl-C may reach the other processes first. The delay keeps the failures that follow from it off the screen. */
const printTrouble = (line: string) => void setTimeout(() => print(line), 200)
const onError = (error: unknown) => printTrouble(`a solver failed: ${error}`)

try {
  await show()
} catch (error) {
  await end(1, `${(error as Error).stack}\n`)
}

async function show(): Promise<void> {
  print('Starting a local chain, the settlement contract, three solvers and the service …')
  const hasConsole = await prepareConsole()
  const started = await startNetwork({
    environment: ENVIRONMENT,
    onError,
    onLogLine: printTrouble,
    servicePort: port,
  })
  network = started
  if (hasConsole) printConsole(started, print)
  await printAddresses(started, print, port)
  await runScenario(started, print)
  if (once) await end(0)
  printWhatToTry(started, print)
  if (traffic) await runTraffic(started, printTrouble)
}

/** @returns whether the service will have a console. There is none when the demo ends by itself. */
async function prepareConsole(): Promise<boolean> {
  if (once || process.env.CONSOLE === 'false') return false
  try {
    await buildConsole(() => print('   building the console, once: this takes some seconds'))
    return true
  } catch (error) {
    print(`   the console could not be built, so the demo has none: ${(error as Error).message}`)
    return false
  }
}

function readArguments() {
  try {
    return readDemoArguments(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exit(2)
  }
}
