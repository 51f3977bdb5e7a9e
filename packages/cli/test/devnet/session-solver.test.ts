import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { testTokenAbi } from '../../../../gen/contracts/test-token.js'
import { startServiceInProcess } from '../../../../src/operator/demo/service-in-process.js'
import { bondSolver, createDevnetClient, devAccounts, mined } from '../../src/devnet/deploy.js'
import { type Network, startNetwork, tradedTokens } from '../../src/devnet/network.js'
import { startReferenceSolver } from '../../src/devnet/reference-solver.js'
import { playPurchase, playSale } from '../../src/devnet/scenario.js'
import { deposit, getQuote, waitForState } from '../../src/devnet/user-steps.js'

const [deployer] = devAccounts
const account = devAccounts[6]

let network: Network
const unforeseen: unknown[] = []
const onError = (error: unknown) => void unforeseen.push(error)

beforeAll(async () => {
  network = await startNetwork({
    environment: { LOG_LEVEL: 'silent' },
    onError,
    startService: startServiceInProcess,
  })
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

function withSolver(solver: Awaited<ReturnType<typeof startSolver>>) {
  return { ...network, solvers: [...network.solvers, solver] }
}

const countListening = () =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'TCPServerWrap').length

it('a solver with a session wins a quote by its spread, and fills the order', async () => {
  const solver = await startSolver('session')
  await solver.join(network.serviceUrl)
  const lines: string[] = []
  await playSale(withSolver(solver), (line) => void lines.push(line))
  expect(lines.filter((line) => / USDC for /.test(line))).toHaveLength(4)
  expect(lines).toContain('   Dora     2499.75 USDC for 1 WETH  <- best')
  expect(lines.at(-1)).toBe('   SETTLED')
  expect(unforeseen).toEqual([])
})

it('a solver that leaves one order unfilled fills those that others deposit meanwhile', async () => {
  const [aldous] = network.solvers
  const silent = () => {}
  const terms = { orderType: 'EXACT_INPUT', amount: 10n ** 18n, depositMode: 'CONTRACT' } as const
  const left = await getQuote(network, silent, terms)
  onTestFinished(aldous?.leaveUnfilled((orderId) => orderId === left.orderId) ?? silent)
  await deposit(createDevnetClient(network.devnet, network.user), network, left)
  const lines: string[] = []
  await playSale(network, (line) => void lines.push(line))
  expect(lines).toContain('   Aldous   2498.75 USDC for 1 WETH  <- best')
  await waitForState(network, left.orderId, 'DEPOSITED', silent)
})

it('a solver with a session settles an order that was paid to its deposit address', async () => {
  const solver = await startSolver('session')
  await solver.join(network.serviceUrl)
  const lines: string[] = []
  await playPurchase(withSolver(solver), (line) => void lines.push(line))
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
