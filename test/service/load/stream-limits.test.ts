import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { between } from '../../support/between.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import type { StreamClient } from '../../support/streams/stream-clients.js'
import {
  type ExpectedEnd,
  endOn,
  eventSource,
  oneOfEach,
  openAll,
  type StreamTransport,
  webSocket,
} from '../../support/streams/transports.js'

const TOO_MANY: ExpectedEnd = {
  webSocket: 1013,
  http: 503,
  rpc: 'RESOURCE_EXHAUSTED',
  reason: 'STREAM_LIMIT_REACHED',
}
const RATE_LIMITED: ExpectedEnd = {
  webSocket: 0,
  http: 429,
  rpc: 'RESOURCE_EXHAUSTED',
  reason: 'RATE_LIMITED',
}
/** Transports whose test clients can say for whom a proxy forwards them. */
const FORWARDED = [webSocket, eventSource]

let service: TestService

const chain = await shared(startModelChain({ bonded: 0 }))

afterEach(() => service.close())

const start = async (environment: Record<string, string>) => {
  service = await startService(chain, environment)
}

const openFor = (address: string, transport: StreamTransport = webSocket) =>
  transport.open(service.url, {}, { headers: { 'x-forwarded-for': address } })

async function admitted(address: string, transport?: StreamTransport): Promise<StreamClient> {
  const client = openFor(address, transport)
  await client.connected()
  return client
}

describe('MAX_STREAM_CLIENTS_PER_IP', () => {
  it('counts all transports together, and names itself to one too many on each', async () => {
    await start({ MAX_STREAM_CLIENTS_PER_IP: String(oneOfEach.length) })
    const holders = await openAll(service.url, {}, oneOfEach)
    for (const transport of oneOfEach) {
      const end = await transport.open(service.url).ended()
      expect(end).toMatchObject(endOn(transport, TOO_MANY))
      expect(end.text).toMatch(new RegExp(`\\b${oneOfEach.length}\\b.*MAX_STREAM_CLIENTS_PER_IP`))
    }
    for (const holder of holders) holder.leave()
  })

  it('counts the place of each transport as free when it leaves, and only once', async () => {
    await start({ MAX_STREAM_CLIENTS_PER_IP: '2' })
    const [keeper] = await openAll(service.url, {}, [webSocket])
    for (const transport of [...oneOfEach, ...oneOfEach]) {
      const client = await eventually(
        async () => {
          const next = transport.open(service.url)
          return next.connected().then(
            () => next,
            () => undefined,
          )
        },
        (found) => found !== undefined,
      )
      expect(await transport.open(service.url).ended()).toMatchObject(endOn(transport, TOO_MANY))
      client?.leave()
    }
    keeper?.leave()
  })

  it('leaves the places of others free', async () => {
    await start({ MAX_STREAM_CLIENTS_PER_IP: '1', TRUST_PROXY: '1' })
    const holders = [await admitted('198.51.100.1')]
    for (const transport of FORWARDED)
      expect(await openFor('198.51.100.1', transport).ended()).toMatchObject(endOn(transport, TOO_MANY))
    holders.push(await admitted('198.51.100.2'))
    for (const holder of holders) holder.leave()
  })
})

it('MAX_STREAM_CLIENTS is named as the limit of all clients in its rejection', async () => {
  await start({ MAX_STREAM_CLIENTS: '1' })
  await openAll(service.url, {}, [webSocket])
  for (const transport of oneOfEach) {
    const end = await transport.open(service.url).ended()
    expect(end).toMatchObject(endOn(transport, TOO_MANY))
    expect(end.text).toMatch(/\b1\b.*MAX_STREAM_CLIENTS\b/)
  }
})

describe('RATE_LIMIT_STREAMS', () => {
  it('counts the openings of all transports together, instead of the global limit', async () => {
    await start({ RATE_LIMIT_STREAMS: String(oneOfEach.length), RATE_LIMIT_MAX: '1' })
    for (const client of await openAll(service.url, {}, oneOfEach)) client.leave()
    for (const transport of oneOfEach.filter((each) => each !== webSocket))
      expect(await transport.open(service.url).ended()).toMatchObject(endOn(transport, RATE_LIMITED))
    expect((await service.get('/nothing')).status).toBe(404)
    expect((await service.get('/nothing')).status).toBe(429)
  })

  it('rejects a WebSocket before the upgrade, like any request', async () => {
    await start({ RATE_LIMIT_STREAMS: '1' })
    const [first] = await openAll(service.url, {}, [webSocket])
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/ws`)
    socket.on('error', () => {})
    const [, response] = await once(socket, 'unexpected-response')
    const body = JSON.parse((await response.setEncoding('utf8').toArray()).join(''))
    expect(response.statusCode).toBe(429)
    expect(Number(response.headers['retry-after'])).toEqual(between(1, 60))
    expect(body).toMatchObject({ code: 'RATE_LIMITED', error: expect.stringContaining('at most 1') })
    first?.leave()
  })
})

describe('health watchers', () => {
  const WATCH = '/grpc.health.v1.Health/Watch'

  /**
   * Watches on one connection, as a proxy forwards them. @returns the gRPC status of each that was rejected
   */
  async function watch(address: string, count: number): Promise<string[]> {
    const session = connectHttp2(service.url)
    const refusals: string[] = []
    const answers = Array.from({ length: count }, async () => {
      const stream = session.request({
        ':method': 'POST',
        ':path': WATCH,
        'content-type': 'application/grpc',
        te: 'trailers',
        'x-forwarded-for': address,
      })
      stream.end(Buffer.alloc(5))
      stream.on('trailers', (trailers) => refusals.push(String(trailers['grpc-status'])))
      const [headers] = await once(stream, 'response')
      if (headers['grpc-status'] !== undefined) refusals.push(String(headers['grpc-status']))
      else await Promise.race([once(stream, 'data'), once(stream, 'trailers')])
    })
    await Promise.all(answers)
    return refusals
  }

  it('are limited to 20 of one client, while others still have theirs', async () => {
    await start({ TRUST_PROXY: '1' })
    expect(await watch('198.51.100.1', 25)).toEqual(Array(5).fill('8'))
    expect(await watch('198.51.100.2', 20)).toEqual([])
    expect(await watch('2001:db8::1', 20)).toEqual([])
    expect(await watch('2001:db8::2', 1)).toEqual(['8'])
  })

  it('do not count against the limit of streams, so that a load balancer is never rejected', async () => {
    await start({ RATE_LIMIT_STREAMS: '1', RATE_LIMIT_MAX: '1', TRUST_PROXY: '1' })
    expect(await watch('198.51.100.1', 5)).toEqual([])
  })
})
