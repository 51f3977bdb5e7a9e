import { setTimeout as pause } from 'node:timers/promises'
import { solverAccounts, startChain, type TestChain } from '../support/chain/chain.js'
import { createTraffic, type RandomReorganisation, type Traffic } from '../support/chain/event-traffic.js'
import { type Postgres, startPostgres } from '../support/databases/postgres.js'
import { type ChaosProxy, startChaosProxy } from '../support/faults/chaos-proxy.js'
import { type DatabaseLink, startDatabaseLink } from '../support/faults/database-link.js'
import { type RpcProxy, startRpcProxy } from '../support/faults/rpc-proxy.js'
import { createRandom } from '../support/random.js'
import { type QuoteLoad, startQuoteLoad } from '../support/replicas/quote-load.js'
import {
  type Replica,
  type ReplicaProcesses,
  startReplicaProcesses,
} from '../support/replicas/replica-processes.js'
import { type FleetSubscriber, subscribeToFleet } from '../support/replicas/subscribers.js'
import { startSolver, type TestSolver } from '../support/solvers/solver.js'
import { eventSource, grpc, webSocket } from '../support/streams/transports.js'

export type ScenarioContext = Awaited<ReturnType<typeof openScenario>>

const REPLICAS = 3
const SOLVERS = 3
/** Anvil keeps the state of this many blocks. It limits the depth of a reorganisation. */
const KEPT_BLOCKS = '5000'
const BLOCK = { events: 4, blocks: 1 }
const BLOCK_PAUSE_MS = 400

/** Everything that was started, to be stopped in the opposite order. */
type Ends = (() => unknown)[]

/**
 * Starts three replicas on PostgreSQL. Proxies for the chain and the database can be given faults. The
 * replicas get quotes, and subscribers on three transports each. Orders are traded on the chain until
 * `finish`.
 */
export async function openScenario(seed: number) {
  const ends: Ends = []
  const stop = async () => {
    for (const end of ends.splice(0).reverse()) await end()
  }
  try {
    return { ...(await open(seed, ends)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function open(seed: number, ends: Ends) {
  const random = createRandom(seed)
  const postgres: Postgres = await startPostgres()
  ends.push(() => postgres.stop())
  const chain: TestChain = await startChain({
    bonded: SOLVERS,
    extraArgs: ['--prune-history', KEPT_BLOCKS],
  })
  ends.push(() => chain.stop())
  const link: DatabaseLink = await startDatabaseLink(postgres.url)
  ends.push(() => link.close())
  const nodes = await Promise.all([1, 2].map((index) => openNode(chain, seed + index, ends)))
  const [first, second] = nodes.map(({ faults }) => faults) as [ChaosProxy, ChaosProxy]
  const fleet: ReplicaProcesses = await startReplicaProcesses(chain, link.url, {
    size: REPLICAS,
    environment: {
      [`RPC_URL_${chain.chainId}`]: `${first.wsUrl},${second.url}`,
      [`POLL_INTERVAL_MS_${chain.chainId}`]: '100',
    },
  })
  ends.push(() => fleet.stop())
  const quotes = await openQuotes(chain, fleet, ends)
  const traffic = await createTraffic(chain, { seed })
  const fromBlock = (await traffic.head()).number + 1
  const subscribers = await openSubscribers(fleet, ends)
  const trade = startTrade(traffic)
  ends.push(trade.stopTrade)

  return { random, postgres, chain, link, nodes, fleet, quotes, subscribers, fromBlock, ...trade }
}

/** A node of the chain that can be made faulty or return wrong data. */
interface SoakNode {
  readonly faults: ChaosProxy
  readonly answers: RpcProxy
}

async function openNode(chain: TestChain, seed: number, ends: Ends): Promise<SoakNode> {
  const answers = await startRpcProxy(chain.devnet.rpcUrl)
  ends.push(() => answers.close())
  const faults = await startChaosProxy(answers.url, { seed })
  ends.push(() => faults.close())
  return { faults, answers }
}

async function openQuotes(chain: TestChain, fleet: ReplicaProcesses, ends: Ends): Promise<QuoteLoad> {
  const [front] = fleet.replicas as [Replica]
  for (const account of solverAccounts.slice(0, SOLVERS)) {
    const solver: TestSolver = await startSolver(chain, account)
    ends.push(() => solver.close())
    await solver.register({ post: front.post })
  }
  const quotes = startQuoteLoad(fleet, chain)
  ends.push(() => quotes.stop())
  return quotes
}

async function openSubscribers(fleet: ReplicaProcesses, ends: Ends): Promise<FleetSubscriber[]> {
  const places = fleet.replicas.flatMap((replica) =>
    [webSocket, eventSource, grpc].map((transport) => ({ transport, replica })),
  )
  const subscribers = await Promise.all(
    places.map(({ transport, replica }) => subscribeToFleet(fleet, transport, replica)),
  )
  ends.push(() => Promise.all(subscribers.map((subscriber) => subscriber.leave())))
  return subscribers
}

/** Mines a block with events now and then. Other actions on the chain run between two blocks. */
function startTrade(traffic: Traffic) {
  const jobs: (() => Promise<void>)[] = []
  let isTrading = true
  const trading = trade()
  let failure: unknown
  trading.catch((error) => {
    failure = error
  })

  async function trade(): Promise<void> {
    while (isTrading) {
      await traffic.run(BLOCK)
      for (const job of jobs.splice(0)) await job()
      await pause(BLOCK_PAUSE_MS)
    }
    for (const job of jobs.splice(0)) await job()
  }

  function between<T>(work: () => Promise<T>): Promise<T> {
    if (failure !== undefined) return Promise.reject(failure)
    return new Promise((resolve, reject) => jobs.push(() => work().then(resolve, reject)))
  }

  return {
    /** Deposits an order. @returns its id */
    deposit: () =>
      between(async () => {
        const order = traffic.order()
        await traffic.mine([traffic.actions.deposit(order)])
        return order.orderId as string
      }),
    reorganise: (size: RandomReorganisation) =>
      between(async () => {
        await traffic.reorganiseAtRandom(size)
      }),
    async stopTrade(): Promise<void> {
      isTrading = false
      await trading
    },
  }
}
