import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import WebSocket from 'ws'
import { CHANNELS } from '../src/store/postgres/postgres.js'
import type { Result } from './benchmark.js'
import type { BuiltReplicas } from './built-replicas.js'
import type { BuiltService } from './built-service.js'
import type { ChattyChain } from './chatty-chain.js'
import { rowOf } from './replica-rows.js'

/** A chain in the response of `/health`. */
interface ChainHealth {
  readonly status: string
  readonly headBlock?: number
}

const SAMPLES = 100
const KILLS = 7
/** The interval at which each replica tries to become the leader. */
const HEARTBEAT_MS = 1000
const MAX_WAIT_MS = 30_000
const POLL_MS = 5

/** How soon an event that the leader has committed reaches WebSocket clients. */
export async function measureEvents(
  chain: ChattyChain,
  fleet: BuiltReplicas,
  databaseUrl: string,
): Promise<Result> {
  const { leader, others } = await fleet.roles()
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query(CHANNELS, [['events']])
  await client.query(`listen ${rows[0].channel}`)
  const sockets = await Promise.all([leader, ...others].map(connect))
  const delays: { leader: number[]; others: number[] } = { leader: [], others: [] }
  try {
    for (let sample = 0; sample < SAMPLES; sample++) {
      const commit = next(client, 'notification')
      const frames = sockets.map((socket) => next(socket, 'message'))
      await chain.emitEvents({ events: 1, seed: sample })
      const committedAt = await commit
      const [atReader = Number.NaN, ...atOthers] = await Promise.all(frames)
      delays.leader.push(atReader - committedAt)
      delays.others.push(Math.max(...atOthers) - committedAt)
    }
  } finally {
    for (const socket of sockets) socket.terminate()
    await client.end()
  }
  return {
    rows: [
      rowOf('events', "from the commit to the frame at the leader's client", { times: delays.leader }),
      rowOf('events', 'from the commit to the frames at clients of all others', { times: delays.others }),
    ],
    findings: [],
  }
}

/**
 * How soon another replica continues when the leader is killed, and how soon its clients get the next event.
 */
export async function measureFailover(chain: ChattyChain, fleet: BuiltReplicas): Promise<Result> {
  const current: number[] = []
  const events: number[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const { leader, others } = await fleet.roles()
    const sockets = await Promise.all(others.map(connect))
    // So that the kill is independent of the heartbeats.
    await delay(Math.random() * HEARTBEAT_MS)
    const frames = sockets.map((socket) => next(socket, 'message'))
    const killedAt = performance.now()
    await fleet.kill(leader)
    const { toBlock } = await chain.emitEvents({ events: 1, seed: SAMPLES + kill })
    const areCurrent = others.map((replica) => untilCurrent(replica, toBlock))
    events.push(Math.max(...(await Promise.all(frames))) - killedAt)
    current.push(Math.max(...(await Promise.all(areCurrent))) - killedAt)
    for (const socket of sockets) socket.terminate()
    await fleet.start()
  }
  const what = 'from kill -9 of the leader to a chain that is current at all others'
  return {
    rows: [
      rowOf('failover', what, { times: current }),
      rowOf('failover', 'from kill -9 of the leader to the next event at clients of all others', {
        times: events,
      }),
    ],
    findings: [{ name: `${what}: longest of ${KILLS}, ms`, value: Math.max(...current), atMost: 5000 }],
  }
}

/** Connects a client, and waits for `connected`. */
async function connect({ socketUrl }: BuiltService): Promise<WebSocket> {
  const socket = new WebSocket(socketUrl)
  await next(socket, 'message')
  return socket
}

/** @returns the time when it came */
async function next(emitter: NodeJS.EventEmitter, event: string): Promise<number> {
  await once(emitter, event, { signal: AbortSignal.timeout(MAX_WAIT_MS) })
  return performance.now()
}

/** Polls a replica until it has read a block. @returns the time of that response */
async function untilCurrent({ url }: BuiltService, block: number): Promise<number> {
  for (;;) {
    const { chains } = (await (await fetch(`${url}/health`)).json()) as { chains: [ChainHealth] }
    const [{ status, headBlock = 0 }] = chains
    if (status === 'ok' && headBlock >= block) return performance.now()
    await delay(POLL_MS)
  }
}
