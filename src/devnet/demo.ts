import { parseArgs } from 'node:util'
import { bytesToHex } from 'viem'
import type { DevAccount, DevnetContracts } from './deploy.js'
import { type Network, startNetwork } from './network.js'
import { playStory } from './story.js'

const USAGE = `Plays a few swaps on a local network, then keeps the network up.
  npm run demo             until Ctrl-C
  npm run demo -- --once   ends after the story: exit code 0, or 1 when anything went wrong`

/** Short enough that an unfilled order can be refunded while one watches. */
const ENVIRONMENT = { DEFAULT_FILL_WINDOW: '5', LOG_LEVEL: 'error', ...process.env }

const tell = (line: string) => process.stdout.write(`${line}\n`)
const { values } = readArguments()
let network: Network | undefined

let ending: Promise<never> | undefined

/** The first call decides the exit code: what breaks while everything is being closed is no news. */
function end(exitCode: number, lastWord = ''): Promise<never> {
  ending ??= (async () => {
    process.stderr.write(lastWord)
    await network?.close()
    process.exit(exitCode)
  })()
  return ending
}
process.once('SIGINT', () => void end(0))
process.once('SIGTERM', () => void end(0))
process.once('SIGHUP', () => void end(0))

try {
  tell('Starting a local chain, the settlement contract, three solvers and the service …')
  network = await startNetwork({
    environment: ENVIRONMENT,
    onError: (error) => tell(`a solver failed: ${error}`),
  })
  tellWhereThingsAre(network)
  await playStory(network, tell)
  if (values.once) await end(0)
  tellWhatToTry(network)
} catch (error) {
  await end(1, `${(error as Error).stack}\n`)
}

function readArguments() {
  try {
    return parseArgs({ options: { once: { type: 'boolean', default: false } } })
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${USAGE}\n`)
    process.exit(2)
  }
}

function tellWhereThingsAre({ devnet, contracts, solvers, serviceUrl }: Network): void {
  tell(`   service     ${serviceUrl}`)
  tell(`   chain       ${devnet.rpcUrl} (chain id ${devnet.chainId})`)
  for (const [name, address] of Object.entries(contracts)) tell(`   ${name.padEnd(11)} ${address}`)
  for (const { name, account, endpointUrl } of solvers)
    tell(`   ${name.padEnd(11)} ${account.address} ${endpointUrl}`)
}

function tellWhatToTry({ devnet, contracts, serviceUrl, user, solvers }: Network): void {
  const body = exampleQuote(devnet.chainId, contracts, user)
  tell('')
  tell('The network stays up until Ctrl-C. Try:')
  tell(`   ${serviceUrl}/docs in a browser`)
  tell(`   curl ${serviceUrl}/health`)
  tell(`   curl ${serviceUrl}/v1/${devnet.chainId}/solvers`)
  tell(`   curl ${serviceUrl}/v1/${devnet.chainId}/quote -H 'content-type: application/json' -d '${body}'`)
  tell('The accounts, with their well-known private keys:')
  tellAccount('user', user)
  for (const solver of solvers) tellAccount(solver.name, solver.account)
}

function tellAccount(name: string, account: DevAccount): void {
  const key = account.getHdKey().privateKey ?? new Uint8Array()
  tell(`   ${name.padEnd(8)} ${account.address} ${bytesToHex(key)}`)
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
