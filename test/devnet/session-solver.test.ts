import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { testTokenAbi } from '../../gen/contracts/test-token.js'
import { bondSolver, createDevnetClient, devAccounts, mined } from '../../src/devnet/deploy.js'
import { openEventView } from '../../src/devnet/event-view.js'
import { type Network, startNetwork, tradedTokens } from '../../src/devnet/network.js'
import { startReferenceSolver } from '../../src/devnet/reference-solver.js'
import { playPurchase, playSale } from '../../src/devnet/scenario.js'

const [deployer] = devAccounts
const account = devAccounts[6]

let network: Network
const unforeseen: unknown[] = []
const onError = (error: unknown) => void unforeseen.push(error)

beforeAll(async () => {
  network = await startNetwork({ environment: { LOG_LEVEL: 'silent' }, onError })
  const { devnet, contracts } = network
  const { settlement, usdc } = contracts
  await bondSolver({ ...devnet, settlement, solver: account }, parseUnits('50000', 6))
  const client = createDevnetClient(devnet, deployer)
  const args = [account.address, parseUnits('10000', 6)] as const
  await mined(
    client,
    await client.writeContract({ address: usdc, abi: testTokenAbi, functionName: 'mint', args }),
  )
})
afterAll(() => network?.close())

/** Starts a solver with a smaller spread than those of the network. */
async function startSolver(transport: 'session' | { usualPort: number }) {
  const { devnet, contracts } = network
  const solver = await startReferenceSolver({
    ...devnet,
    account,
    name: 'Dora',
    spreadBps: { EXACT_INPUT: 1n, EXACT_OUTPUT: 1n },
    settlement: contracts.settlement,
    tokens: tradedTokens(contracts),
    protocolName: 'Service',
    transport,
    onError,
  })
  onTestFinished(() => solver.close())
  return solver
}

async function openStage(solver: Awaited<ReturnType<typeof startSolver>>) {
  const events = await openEventView({ serviceUrl: network.serviceUrl, onEvent: () => {}, onError })
  onTestFinished(() => events.close())
  return { ...network, solvers: [...network.solvers, solver], events }
}

const countListening = () =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'TCPServerWrap').length

it('a solver with a session wins a quote by its spread, and fills the order', async () => {
  const solver = await startSolver('session')
  await solver.join(network.serviceUrl)
  const lines: string[] = []
  await playSale(await openStage(solver), (line) => void lines.push(line))
  expect(lines.filter((line) => / USDC for /.test(line))).toHaveLength(4)
  expect(lines).toContain('   Dora     2499.75 USDC for 1 WETH  <- best')
  expect(lines.at(-1)).toBe('   SETTLED')
  expect(unforeseen).toEqual([])
})

it('a solver with a session settles an order that was paid to its deposit address', async () => {
  const solver = await startSolver('session')
  await solver.join(network.serviceUrl)
  const lines: string[] = []
  await playPurchase(await openStage(solver), (line) => void lines.push(line))
  expect(lines.filter((line) => line.endsWith('<- best')).join()).toContain('Dora')
  expect(lines.at(-1)).toBe('   SETTLED')
})

it('a solver with a session listens on no port, and one with an endpoint on one', async () => {
  const before = countListening()
  const connected = await startSolver('session')
  await connected.join(network.serviceUrl)
  expect(connected.endpointUrl).toBeUndefined()
  expect(countListening()).toBe(before)
  await connected.close()
  const listening = await startSolver({ usualPort: 0 })
  await listening.join(network.serviceUrl)
  expect(countListening()).toBe(before + 1)
})

it('a solver whose first session is refused does not join', async () => {
  const { devnet, contracts } = network
  const solver = await startReferenceSolver({
    ...devnet,
    account: devAccounts[7],
    name: 'Without a bond',
    spreadBps: { EXACT_INPUT: 1n, EXACT_OUTPUT: 1n },
    settlement: contracts.settlement,
    tokens: tradedTokens(contracts),
    protocolName: 'Service',
    transport: 'session',
    onError,
  })
  onTestFinished(() => solver.close())
  await expect(solver.join(network.serviceUrl)).rejects.toThrow(
    /^Without a bond could not connect: BOND_INSUFFICIENT/,
  )
})
