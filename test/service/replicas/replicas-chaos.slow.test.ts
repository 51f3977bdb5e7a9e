import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import { type Postgres, startPostgres } from '../../support/databases/postgres.js'
import { eventually } from '../../support/eventually.js'
import { type ModelTestChain, startModelChain } from '../../support/model-chain/start-model-chain.js'
import {
  type Replica,
  type ReplicaProcesses,
  startReplicaProcesses,
} from '../../support/replicas/replica-processes.js'
import { signedRegistration, startSolver, type TestSolver } from '../../support/solvers/solver.js'
import { expectedMessages, firstDifference, withoutCursors } from '../../support/streams/event-messages.js'
import { eventSource, grpc, webSocket } from '../../support/streams/transports.js'
import { type Break, type QuoteLoad, startQuoteLoad } from './quote-load.js'
import { type FleetSubscriber, subscribeToFleet } from './subscribers.js'

/** The seed of the traffic. */
const SEED = Number(process.env.EVENT_SEED ?? 1)
const SETTLED_SOLVERS = 3
const OUTAGE_MS = 10_000
/** As long as a replica drains after SIGTERM. */
const DRAIN_MS = 500
const PAUSE_MS = 100

let postgres: Postgres
let chain: ModelTestChain
let traffic: Traffic
let fleet: ReplicaProcesses
let solvers: TestSolver[]
let subscribers: FleetSubscriber[]
let quotes: QuoteLoad
let fromBlock: number
let trading: Promise<void>
let isTrading = true

beforeAll(async () => {
  ;[postgres, chain] = await Promise.all([startPostgres(), startModelChain({ bonded: SETTLED_SOLVERS })])
  traffic = await createTraffic(chain, { seed: SEED })
  fleet = await startReplicaProcesses(chain, postgres.url, {
    environment: { [`POLL_INTERVAL_MS_${chain.chainId}`]: '100' },
  })
  const accounts = solverAccounts.slice(0, SETTLED_SOLVERS)
  solvers = await Promise.all(accounts.map((account) => startSolver(chain, account)))
  const [front] = fleet.replicas as [Replica]
  for (const solver of solvers) await solver.register({ post: front.post })

  fromBlock = (await traffic.head()).number + 1
  const places = fleet.replicas.flatMap((replica) => {
    return [webSocket, eventSource, grpc].map((transport) => ({ transport, replica }))
  })
  subscribers = await Promise.all(
    places.map(({ transport, replica }) => subscribeToFleet(fleet, transport, replica)),
  )
  quotes = startQuoteLoad(fleet, chain)
  trading = trade()
})

afterAll(async () => {
  isTrading = false
  await trading
  // A caller that still works after a failure finds no replica, and ends.
  await fleet?.stop()
  await quotes?.stop().catch(() => {})
  await Promise.all(subscribers?.map((subscriber) => subscriber.leave()) ?? [])
  await Promise.all(solvers?.map((solver) => solver.close()) ?? [])
  await Promise.all([postgres?.stop(), chain?.stop()])
})

/**
 * Orders to deposit. Only the trader deposits them, because no one else may send transactions at the same
 * time.
 */
const wanted: ((orderId: string) => void)[] = []

async function trade(): Promise<void> {
  while (isTrading) {
    await traffic.run({ events: 8, blocks: 2 })
    for (const publish of wanted.splice(0)) {
      const order = traffic.order()
      await traffic.mine([traffic.actions.deposit(order)])
      publish(order.orderId)
    }
    await pause(PAUSE_MS)
  }
}

/** Resolves when an event from now on has come to all. */
async function untilReceived(those: readonly FleetSubscriber[] = subscribers): Promise<void> {
  const orderId = await new Promise<string>((resolve) => wanted.push(resolve))
  await Promise.all(those.map((subscriber) => subscriber.until(orderId)))
}

const health = () => Promise.all(fleet.replicas.map(async ({ get }) => (await get('/health')).body))

/** Resolves when all replicas report that state of their database. */
const untilDatabaseIs = (status: 'ok' | 'down') =>
  eventually(health, (all) => all.every(({ database }) => database === status))

describe(`three replicas under load of seed ${SEED}`, () => {
  it('continue when the leader of the chain is killed', async () => {
    await untilReceived()
    const leader = await fleet.leader()
    const others = subscribers.filter((subscriber) => subscriber.replica() !== leader)
    void leader.kill()
    await untilReceived(others)
    expect(await fleet.leader()).not.toBe(leader)
    await untilReceived()
    await leader.start()
  })

  it('answer quotes and keep their streams while PostgreSQL is down, and accept no registration', async () => {
    const endings = () => subscribers.flatMap((subscriber) => subscriber.endings)
    const before = endings().length
    const cutAt = performance.now()
    await postgres.kill()
    await untilDatabaseIs('down')
    const seenAt = performance.now()
    await pause(cutAt + OUTAGE_MS - seenAt)
    const statuses = (await health()).map(({ status, database }) => [status, database])
    expect(statuses).toEqual(fleet.replicas.map(() => ['degraded', 'down']))
    const [solver] = solvers as [TestSolver]
    const registration = await signedRegistration(solver.account, { endpointUrl: solver.endpointUrl })
    for (const { post } of fleet.replicas)
      expect(await post(`/v1/${chain.chainId}/solvers/register`, registration)).toMatchObject({
        status: 503,
        body: { code: 'DATABASE_UNAVAILABLE' },
      })
    const answered = quotes.since(seenAt)

    await postgres.restart()
    await untilDatabaseIs('ok')
    await untilReceived()
    for (const { index } of fleet.replicas)
      expect(answered.filter(({ replica }) => replica === index).length).toBeGreaterThan(10)
    expect(endings().length).toBe(before)
    expect((await health()).map(({ status }) => status)).toEqual(['ok', 'ok', 'ok'])
  })

  it('continue while each of them is restarted in turn', async () => {
    for (const replica of fleet.replicas) {
      expect(await replica.stop()).toBe(0)
      await untilReceived()
      await replica.start()
    }
  })

  it('have failed only quotes that were open at a replica that was ended', async () => {
    await quotes.stop()
    expect(quotes.unanswered()).toBe(0)
    expect(quotes.answers.filter(({ status }) => status !== 200)).toEqual([])
    // A load balancer asks the next replica when a port is closed. The system resets connections that were
    // not accepted before that. A replica that stops closes the connections on which nothing came while it
    // drained.
    const isExcused = ({ state, code, isReused, idleMs }: Break) =>
      state === 'killed' ||
      code === 'ECONNREFUSED' ||
      (state === 'stopping' && (!isReused || idleMs >= DRAIN_MS))
    expect(quotes.breaks.filter((one) => !isExcused(one))).toEqual([])
  })

  it('have sent every client every event once and in order, the same everywhere', async () => {
    isTrading = false
    await trading
    const order = traffic.order()
    await traffic.mine([traffic.actions.deposit(order)])
    await Promise.all(subscribers.map((subscriber) => subscriber.until(order.orderId)))
    const expected = await expectedMessages(chain, fromBlock)
    const [first] = subscribers as [FleetSubscriber]
    for (const { name, received, endings } of subscribers) {
      expect(firstDifference(withoutCursors(received()), expected), name).toBeUndefined()
      expect(firstDifference(received(), first.received()), name).toBeUndefined()
      expect(endings.length, name).toBeGreaterThan(0)
      expect(
        endings.filter(({ state }) => state === 'running'),
        name,
      ).toEqual([])
    }
  })
})
