import { bytesToHex, parseUnits } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testTokenAbi } from '../../../../gen/contracts/test-token.js'
import { startServiceInProcess } from '../../../../src/operator/demo/service-in-process.js'
import { startProcess } from '../../../../test/support/process/process.js'
import { bondSolver, createDevnetClient, devAccounts, mined } from '../../src/devnet/deploy.js'
import { type Network, startNetwork } from '../../src/devnet/network.js'
import type { ReferenceSolver } from '../../src/devnet/reference-solver.js'
import { playPurchase, playSale } from '../../src/devnet/scenario.js'

const [deployer] = devAccounts
const account = devAccounts[6]

/** The fill window is that of `npm run demo`. */
const DEMO_ENVIRONMENT = { DEFAULT_FILL_WINDOW: '5', LOG_LEVEL: 'silent' }

let network: Network

beforeAll(async () => {
  network = await startNetwork({
    environment: DEMO_ENVIRONMENT,
    onError: () => {},
    startService: startServiceInProcess,
  })
  const { devnet, contracts } = network
  await bondSolver({ ...devnet, settlement: contracts.settlement, solver: account }, parseUnits('50000', 6))
  const client = createDevnetClient(devnet, deployer)
  const args = [account.address, parseUnits('10000', 6)] as const
  const mint = { address: contracts.usdc, abi: testTokenAbi, functionName: 'mint', args } as const
  await mined(client, await client.writeContract(mint))
})
afterAll(() => network?.close())

const startExample = () =>
  startProcess(process.execPath, ['--import', 'tsx', 'examples/solver-typescript/solver.ts'], {
    AGGREGATOR_URL: network.serviceUrl,
    RPC_URL: network.devnet.rpcUrl,
    PRIVATE_KEY: bytesToHex(account.getHdKey().privateKey ?? new Uint8Array()),
    STATE_FILE: ':memory:',
  })

it('the example of a solver wins quotes by its spread, and fills both kinds of deposits', async () => {
  const solver = startExample()
  await solver.waitFor(/session open$/m)
  const lines: string[] = []
  const named = { name: 'Example', account } as ReferenceSolver
  const stage = { ...network, solvers: [...network.solvers, named] }
  await playSale(stage, (line) => void lines.push(line))
  await playPurchase(stage, (line) => void lines.push(line))
  expect(lines).toContain('   Example  2499 USDC for 1 WETH  <- best')
  expect(lines.filter((line) => line === '   SETTLED')).toHaveLength(2)
  await solver.waitFor(/(deposit\n.*order ended\n.*){2}/s)
  // Each event has one line.
  for (const event of ['session open', 'deposit', 'order ended'])
    expect(solver.output().split(event)).toHaveLength(event === 'session open' ? 2 : 3)
  solver.signal('SIGTERM')
  expect(await solver.exited, solver.output()).toBe(0)
})

it('the example ends with an error when another process takes its session', async () => {
  const first = startExample()
  await first.waitFor(/session open$/m)
  const second = startExample()
  expect(await first.exited, first.output()).toBe(1)
  expect(first.output()).toMatch(/SESSION_REPLACED.*session lost\n/s)
  await second.waitFor(/session open$/m)
  second.signal('SIGTERM')
  expect(await second.exited, second.output()).toBe(0)
})
