import { once } from 'node:events'
import WebSocket from 'ws'
import { startChild } from '../service/child-process.js'
import { startBuiltService } from './built-service.js'
import { type Delivery, gather } from './crowd.js'
import { quantile } from './load.js'
import { startLoudChain } from './loud-chain.js'

const CLIENTS = 1000
const EVENTS = 400
const ROUNDS = 5

/** A block of events to many WebSocket clients, beside a bare `ws` server that sends the same bytes to as many. */
export async function measureBroadcast(): Promise<object[]> {
  const chain = await startLoudChain()
  const service = await startBuiltService(chain, { [`POLL_INTERVAL_MS_${chain.chainId}`]: '50' })
  const bare = startChild(process.execPath, ['--import', 'tsx', 'test/bench/bare-server.ts'], {})
  const [, barePort] = await bare.waitFor(/listening (\d+)/)
  const socketUrl = `${service.url.replace('http', 'ws')}/v1/ws`

  const observer = new WebSocket(socketUrl)
  await once(observer, 'message')
  const prepared: string[] = []
  const isPrepared = new Promise<void>((resolve) => {
    observer.on('message', (data) => {
      if (prepared.push(data.toString()) === EVENTS) resolve()
    })
  })
  await chain.shout({ events: EVENTS })
  await isPrepared
  observer.terminate()
  bare.child.stdin.write(`${JSON.stringify(prepared)}\n`)

  const ofService = await gather(socketUrl, CLIENTS)
  const ofBare = await gather(`ws://127.0.0.1:${barePort}`, CLIENTS)
  // Behind the first message of each stream.
  await new Promise((resolve) => setTimeout(resolve, 500))
  const deliveries: { service: Delivery[]; bare: Delivery[] } = { service: [], bare: [] }
  for (let round = 1; round <= ROUNDS; round++) {
    const delivered = ofService.delivery(EVENTS)
    await chain.shout({ events: EVENTS, seed: round })
    deliveries.service.push(await delivered)
    const deliveredBare = ofBare.delivery(EVENTS)
    bare.child.stdin.write('go\n')
    deliveries.bare.push(await deliveredBare)
  }
  ofService.leave()
  ofBare.leave()
  await service.stop()
  bare.signal('SIGTERM')
  await chain.stop()

  const rates = {
    service: quantile(deliveries.service.map(rate), 0.5),
    bare: quantile(deliveries.bare.map(rate), 0.5),
  }
  return [
    { server: 'bare ws', clients: CLIENTS, events: EVENTS, 'messages/s': rates.bare, ratio: 1 },
    {
      server: 'this service',
      clients: CLIENTS,
      events: EVENTS,
      'messages/s': rates.service,
      ratio: Math.round((rates.service / rates.bare) * 100) / 100,
    },
  ]
}

function rate({ firstAt, lastAt, messages }: Delivery): number {
  return messages / ((lastAt - firstAt) / 1000)
}
