import { on } from 'node:events'
import WebSocket from 'ws'
import { type BareServer, startBareServer } from './bare-server.js'
import type { Benchmark, Finding, Result, Row } from './benchmark.js'
import { type BuiltService, startBuiltService } from './built-service.js'
import { type ChattyChain, onChattyChain } from './chatty-chain.js'
import { quantile } from './load.js'
import { gather } from './many-clients.js'

const SIZES = [100, 1000, 5000]
/** All messages of a round, over all clients. */
const MESSAGES = 500_000
const ROUNDS = 5
const MAX_WAIT_MS = 30_000

/** How fast many WebSocket clients get a block of events. */
export const broadcast: Benchmark = {
  name: 'broadcast',
  about:
    'A block of events to many WebSocket clients. The limit is a bare ws server that sends the same bytes.',
  collectMetrics: () =>
    onChattyChain(async (chain) => {
      const service = await startBuiltService(chain, { [`POLL_INTERVAL_MS_${chain.chainId}`]: '50' })
      try {
        const bare = await startBareServer()
        try {
          return await compare(chain, service, bare)
        } finally {
          await bare.stop()
        }
      } finally {
        await service.stop()
      }
    }),
}

/** A server with clients, and a function that makes it send to all of them. */
interface Contestant {
  readonly socketUrl: string
  readonly isGreeting: boolean
  send(): unknown
}

async function compare(chain: ChattyChain, service: BuiltService, bare: BareServer): Promise<Result> {
  const rows: Row[] = []
  const findings: Finding[] = []
  for (const clients of SIZES) {
    const events = MESSAGES / clients
    const contestants = {
      service: {
        ...service,
        isGreeting: true,
        send: () => chain.emitEvents({ events, eventsPerBlock: events }),
      },
      bare: { ...bare, isGreeting: false, send: bare.broadcast },
    }
    bare.prepare(await recordMessages(contestants.service, events))
    const rates: { service: number[]; bare: number[] } = { service: [], bare: [] }
    // The servers take turns, so that the clients of both need not fit among the open files of this process.
    for (let round = 0; round < ROUNDS; round++) {
      rates.bare.push(await messagesPerSecond(contestants.bare, clients, events))
      rates.service.push(await messagesPerSecond(contestants.service, clients, events))
    }
    const limit = quantile(rates.bare, 0.5)
    const reached = quantile(rates.service, 0.5)
    const ratio = Math.round((reached / limit) * 100) / 100
    rows.push(
      { clients, server: 'bare ws', 'messages/s': Math.round(limit), ratio: 1 },
      { clients, server: 'this service', 'messages/s': Math.round(reached), ratio },
    )
    const name = `broadcast to ${clients.toLocaleString('en')} clients: messages/s relative to bare ws`
    findings.push({ name, value: ratio, atLeast: 0.9 })
  }
  return { rows, findings }
}

async function messagesPerSecond(contestant: Contestant, clients: number, events: number): Promise<number> {
  const crowd = await gather(contestant.socketUrl, { size: clients, isGreeted: contestant.isGreeting })
  try {
    const [{ messages, firstAt, lastAt }] = await Promise.all([crowd.delivery(events), contestant.send()])
    return messages / ((lastAt - firstAt) / 1000)
  } finally {
    await crowd.leave()
  }
}

/** The service's messages for these events. */
async function recordMessages({ socketUrl, send }: Contestant, events: number): Promise<string[]> {
  const observer = new WebSocket(socketUrl)
  try {
    const signal = AbortSignal.timeout(MAX_WAIT_MS)
    const incoming = on(observer, 'message', { signal })
    await incoming.next()
    await send()
    const messages: string[] = []
    while (messages.length < events) messages.push(String((await incoming.next()).value[0]))
    return messages
  } finally {
    observer.terminate()
  }
}
