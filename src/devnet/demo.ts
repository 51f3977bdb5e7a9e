import { setTimeout as delay } from 'node:timers/promises'
import { bytesToHex } from 'viem'
import { buildConsole } from './build-console.js'
import { readDemoArguments, USAGE } from './demo-arguments.js'
import type { DevAccount, DevnetContracts } from './deploy.js'
import { type Network, startNetwork } from './network.js'
import { runScenario } from './scenario.js'
import { isFree, movedParts } from './taken-ports.js'
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
if (port !== undefined && !(await isFree(port))) {
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
  if (hasConsole) printConsole(started)
  await printMoved(started)
  print(`   service     ${started.serviceUrl}`)
  printAddresses(started)
  await runScenario(started, print)
  if (once) await end(0)
  printWhatToTry(started)
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

/** The link brings what the console cannot know without a wallet: the tokens' symbols and decimals, and an address. */
function printConsole({ serviceUrl, contracts, user }: Network): void {
  const pair = `sell=${contracts.weth}:18:WETH&buy=${contracts.usdc}:6:USDC`
  print(`   console     ${serviceUrl}/#/swap?${pair}&amount=1&for=${user.address}`)
}

function readArguments() {
  try {
    return readDemoArguments(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exit(2)
  }
}

async function printMoved(started: Network): Promise<void> {
  const moved = await movedParts(started, port)
  for (const { name, usualPort, url, isOnlyIpv6Taken } of moved)
    print(`   port ${usualPort} is taken${isOnlyIpv6Taken ? ' at ::1' : ''}: ${name} is at ${url}`)
  if (moved.length > 0) print('   Use these addresses in place of those of the documents.')
}

function printAddresses({ devnet, contracts, solvers }: Network): void {
  print(`   chain       ${devnet.rpcUrl} (chain id ${devnet.chainId})`)
  for (const [name, address] of Object.entries(contracts)) print(`   ${name.padEnd(11)} ${address}`)
  for (const { name, account, endpointUrl } of solvers)
    print(
      `   ${name.padEnd(11)} ${account.address} ${endpointUrl ?? 'connected by a session, without an endpoint'}`,
    )
}

function printWhatToTry({ devnet, contracts, serviceUrl, user, solvers }: Network): void {
  const body = exampleQuote(devnet.chainId, contracts, user)
  print('')
  print('The network stays up until Ctrl-C. Try:')
  print(`   ${serviceUrl}/docs in a browser`)
  print(`   curl -s ${serviceUrl}/health`)
  print(`   curl -s ${serviceUrl}/v1/${devnet.chainId}/solvers`)
  print(
    `   curl -s ${serviceUrl}/v1/${devnet.chainId}/quote -H 'content-type: application/json' -d '${body}'`,
  )
  print(`   curl -sN ${serviceUrl}/v1/events`)
  print('The accounts, with their well-known private keys:')
  printAccount('user', user)
  for (const solver of solvers) printAccount(solver.name, solver.account)
}

function printAccount(name: string, account: DevAccount): void {
  const key = account.getHdKey().privateKey ?? new Uint8Array()
  print(`   ${name.padEnd(8)} ${account.address} ${bytesToHex(key)}`)
}

function exampleQuote(chainId: number, contracts: DevnetContracts, user: DevAccount): string {
  return JSON.stringify({
    inputToken: contracts.weth,
    outputToken: contracts.usdc,
    orderType: 'EXACT_INPUT',
    amount: '1000000000000000000',
    userAddress: user.address,
    originChainId: chainId,
    destinationChainId: chainId,
    depositMode: 'CONTRACT',
  })
}
