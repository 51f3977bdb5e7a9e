/**
 * Runs the service and a solver of the kit for some minutes, each with a node of its own. In the second third, both nodes are silent for
 * 10 s twice. It prints what each third has taken, and compares the last one with the first: a quote is open for 90 s, so that thirds of
 * a minute or two differ for that.
 *
 *   npm run soak:silent -- --minutes 18
 *
 * Exits with 1 when open files, or requests for a block, have grown by more than a fifth, or an order was not paid.
 */
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createBatchRpc } from '../support/chain/batch-rpc.js'
import { solverAccounts, startChain, type TestChain, user } from '../support/chain/chain.js'
import { type Calls, createCalls } from '../support/chain/contract-calls.js'
import { eventually } from '../support/eventually.js'
import { type RpcProxy, startRpcProxy } from '../support/faults/rpc-proxy.js'
import { buildOnce } from '../support/process/prepare-once.js'
import { endProcesses, startProcess } from '../support/process/process.js'
import { type Replica, startReplicaProcesses } from '../support/replicas/replica-processes.js'
import { subscribeToFleet } from '../support/replicas/subscribers.js'
import { WETH_UNIT } from '../support/solver-kit/fixed-price.js'
import { keyOf, type Offer } from '../support/solver-kit/market.js'
import { quoteRequest } from '../support/solvers/quote-request.js'
import { contractStruct } from '../support/solvers/solver.js'
import { eventSource, grpc, webSocket } from '../support/streams/transports.js'

const SECOND_MS = 1000
const SILENT_MS = 10 * SECOND_MS
/** The parts of the second third after which the nodes fall silent. */
const SILENCES = [0.1, 0.5]
const MOST_GROWTH = 1.2
/** One offer in so many is deposited. */
const OFFERS_A_DEPOSIT = 10
const USDC = 10n ** 13n
/** The limits of the service's defaults, and windows after which as many quotes end as begin. */
const ENVIRONMENT = {
  QUOTE_TIMEOUT_MS: '2000',
  QUOTE_SOFT_TIMEOUT_MS: '500',
  VERIFY_TIMEOUT_MS: '300',
  DEFAULT_DEPOSIT_WINDOW: '30',
  DEFAULT_FILL_WINDOW: '60',
}
const [account] = solverAccounts

type Scenario = Awaited<ReturnType<typeof openScenario>>
type Third = Awaited<ReturnType<typeof runThird>>

/** Starts everything. The chain has a block each second from then on. */
async function openScenario(folder: string) {
  const chain = await startChain({ bonded: 1 })
  const { chainId, contracts, devnet } = chain
  const calls = createCalls(devnet, contracts.settlement)
  await calls.mint(contracts.usdc, account.address, USDC)
  await calls.mint(contracts.weth, user.address, 10_000n * WETH_UNIT)
  await calls.approve(contracts.weth, user, 2n ** 256n - 1n)
  const nodes = { service: await startRpcProxy(devnet.rpcUrl), kit: await startRpcProxy(devnet.rpcUrl) }
  const environment = {
    ...ENVIRONMENT,
    DB_PATH: join(folder, 'service.db'),
    [`RPC_URL_${chainId}`]: nodes.service.url,
  }
  const fleet = await startReplicaProcesses(chain, '', { size: 1, environment })
  const [service] = fleet.replicas as [Replica]
  const kit = await startKit(chain, nodes.kit, service, join(folder, 'kit.db'))
  const subscribers = await Promise.all(
    [webSocket, eventSource, grpc].map((transport) => subscribeToFleet(fleet, transport, service)),
  )
  await createBatchRpc(devnet.rpcUrl).call('evm_setIntervalMining', 1)
  return { chain, calls, nodes, service, kit, subscribers }
}

async function startKit(chain: TestChain, node: RpcProxy, service: Replica, stateFile: string) {
  const { settlement, weth, usdc } = chain.contracts
  const chains = { [chain.chainId]: { rpc: node.url, settlement, tokens: [weth, usdc] } }
  const options = { account: keyOf(account), name: 'Dora', aggregatorUrl: service.url, stateFile, chains }
  const args = ['test/support/solver-kit/solver-process.ts', JSON.stringify(options)]
  const kit = startProcess(process.execPath, ['--import', 'tsx', ...args], {})
  await kit.waitFor(/^started$/m)
  return kit
}

/** Asks for a quote each second, and deposits some of them. */
function startTrade({ chain, calls, service, subscribers }: Scenario) {
  const counts = { asked: 0, offers: 0 }
  const deposits: Promise<unknown>[] = []
  let lags: number[] = []
  let isTrading = true

  async function trade(): Promise<void> {
    for (; isTrading; await pause(SECOND_MS)) {
      counts.asked++
      const { status, body } = await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
      if (status === 200 && ++counts.offers % OFFERS_A_DEPOSIT === 0) deposits.push(deposit(body))
    }
  }

  /** Notes how long the event takes from its block to the last subscriber. */
  async function deposit(offer: Offer): Promise<void> {
    await sendDeposit(calls, offer)
    const start = performance.now()
    await Promise.all(subscribers.map((subscriber) => subscriber.until(offer.orderId)))
    lags.push(performance.now() - start)
  }

  const trading = trade()
  return {
    counts,
    /** The lags since the last call, in milliseconds, sorted. */
    takeLags() {
      const taken = lags.toSorted((a, b) => a - b)
      lags = []
      return taken
    },
    /** @returns the number of deposits */
    async stop(): Promise<number> {
      isTrading = false
      await trading
      await Promise.all(deposits)
      return deposits.length
    },
  }
}

const sendDeposit = (calls: Calls, { quote, solverSignature }: Offer) =>
  calls.send(user, 'deposit', [contractStruct(quote), solverSignature])

/** Runs for a third, and measures it. */
async function runThird({ calls, nodes, service, kit }: Scenario, durationMs: number) {
  const all = Object.values(nodes)
  for (const node of all) node.forgetCalls()
  const firstBlock = await calls.client.getBlockNumber({ cacheTime: 0 })
  const files = { service: [] as number[], kit: [] as number[] }
  for (const end = performance.now() + durationMs; performance.now() < end; await pause(SECOND_MS)) {
    files.service.push((await service.metric('process_open_fds')) ?? 0)
    files.kit.push(readdirSync(`/proc/${kit.child.pid}/fd`).length)
  }
  const blocks = Number((await calls.client.getBlockNumber({ cacheTime: 0 })) - firstBlock)
  return {
    blocks,
    'requests a block, service': nodes.service.requests().length / blocks,
    'requests a block, kit': nodes.kit.requests().length / blocks,
    'open files, service': mean(files.service),
    'open files, kit': mean(files.kit),
    'most open files, service': Math.max(...files.service),
    'most open files, kit': Math.max(...files.kit),
  }
}

const COMPARED = [
  'requests a block, service',
  'requests a block, kit',
  'open files, service',
  'open files, kit',
] as const

const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length

async function silence(nodes: readonly RpcProxy[], thirdMs: number): Promise<void> {
  const start = performance.now()
  for (const part of SILENCES) {
    await pause(start + part * thirdMs - performance.now())
    for (const node of nodes) node.setHanging(true)
    await pause(SILENT_MS)
    for (const node of nodes) node.setHanging(false)
  }
}

async function soak(scenario: Scenario, thirdMs: number): Promise<boolean> {
  const trade = startTrade(scenario)
  const thirds: Third[] = []
  for (const index of [0, 1, 2]) {
    if (index === 1) void silence(Object.values(scenario.nodes), thirdMs)
    const third = await runThird(scenario, thirdMs)
    const lags = trade.takeLags()
    thirds.push(third)
    console.table({
      ...third,
      ...trade.counts,
      events: lags.length,
      'lag, median, ms': lags[lags.length >> 1],
      'lag, most, ms': lags.at(-1),
      load: loadavg()[0],
    })
  }
  const deposits = await trade.stop()
  const paid = () => [...scenario.kit.output().matchAll(/^filled /gm)].length
  await eventually(
    async () => paid(),
    (count) => count >= deposits,
  ).catch(() => {})
  const [first, , last] = thirds as [Third, Third, Third]
  const growth = COMPARED.map((name) => [name, last[name] / first[name]] as const)
  console.table({ deposits, paid: paid(), ...Object.fromEntries(growth) })
  return paid() === deposits && growth.every(([, ratio]) => ratio <= MOST_GROWTH)
}

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '18' } } })
await buildOnce()
const folder = await mkdtemp(join(tmpdir(), 'soak-'))
try {
  const scenario = await openScenario(folder)
  process.exitCode = (await soak(scenario, (Number(values.minutes) * 60 * SECOND_MS) / 3)) ? 0 : 1
  process.stdout.write(scenario.kit.output().replace(/^filled .*\n/gm, ''))
} finally {
  endProcesses()
  await rm(folder, { recursive: true })
  process.exit()
}
