import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { itSlow } from '../../support/rounds.js'
import { startScene } from '../../support/service/scene.js'
import { startService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { errorOf, quoteTransports } from '../../support/streams/quote-stream-clients.js'

const STREAM_QUOTES = 'aggregator.v1.QuoteService/StreamQuotes'

const { chain, service, solvers } = await startScene({ solvers: ['Ada'] })
const [solver] = solvers

itSlow.concurrent.each([
  ['server-sent events', (chainId: number) => `/v1/${chainId}/quote/stream`, 'application/json', '11'],
  ['Connect', () => '/aggregator.v1.QuoteService/StreamQuotes', 'application/connect+json', '12'],
])(
  'a client over %s that does not read gets no further round and is closed',
  async (_, pathOf, type, amount) => {
    // The service may send nothing but the headers.
    const session = connectHttp2(service.url, { settings: { initialWindowSize: 0 } })
    const { chainId } = chain
    const request = { ...quoteRequest(chain), amount, refreshSeconds: 5 }
    const isConnect = type.includes('connect')
    const json = isConnect
      ? { ...request, chainId, orderType: 'ORDER_TYPE_EXACT_INPUT', depositMode: 'DEPOSIT_MODE_CONTRACT' }
      : request
    const bytes = Buffer.from(JSON.stringify(json))
    const head = Buffer.alloc(5)
    head.writeUInt32BE(bytes.length, 1)
    const stream = session.request({ ':method': 'POST', ':path': pathOf(chainId), 'content-type': type })
    stream.on('error', () => {}).end(isConnect ? Buffer.concat([head, bytes]) : bytes)
    await once(stream, 'close')
    expect(solver.asks.filter((ask) => ask.amount === amount).length).toBe(1)
    const labels = {
      method: STREAM_QUOTES,
      protocol: isConnect ? 'connect' : 'sse',
      reason: 'SUBSCRIBER_TOO_SLOW',
    }
    expect(
      await eventually(
        () => service.metric('aggregator_requests_total', labels),
        (count) => count > 0,
      ),
    ).toBe(1)
    session.destroy()
  },
)

itSlow.concurrent(
  'a stream that waits for another response on its connection gets no further round',
  async () => {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    const { chainId } = chain
    const first = JSON.stringify({ ...quoteRequest(chain), amount: '13', refreshSeconds: 5 })
    const queued = JSON.stringify({
      ...{ ...quoteRequest(chain), chainId, amount: '14', refreshSeconds: 5 },
      ...{ orderType: 'ORDER_TYPE_EXACT_INPUT', depositMode: 'DEPOSIT_MODE_CONTRACT' },
    })
    const requestOf = (path: string, type: string, body: string) =>
      `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    const length = String.fromCharCode(0, 0, 0, queued.length >> 8, queued.length & 255)
    socket.write(requestOf(`/v1/${chainId}/quote/stream`, 'application/json', first))
    socket.write(requestOf(`/${STREAM_QUOTES}`, 'application/connect+json', length + queued), 'latin1')
    const asksFor = (amount: string) => solver.asks.filter((ask) => ask.amount === amount).length
    await eventually(
      async () => asksFor('13'),
      (rounds) => rounds === 3,
    )
    expect(asksFor('14')).toBe(1)
    socket.destroy()
  },
)

it('a stream with refreshSeconds ends with SHUTTING_DOWN when the service ends, after the round under way', async () => {
  const own = await startService(chain)
  await solver.register(own)
  const endings = quoteTransports.map(({ open }) =>
    errorOf(open(own.url, chain.chainId, { ...quoteRequest(chain), refreshSeconds: 60 })),
  )
  await expect
    .poll(() => own.metric('aggregator_quotes_total', { outcome: 'quoted' }))
    .toBe(quoteTransports.length)
  await own.close()
  const reasons = (await Promise.all(endings)).map(({ reason }) => reason)
  expect(reasons).toEqual(quoteTransports.map(() => 'SHUTTING_DOWN'))
  await solver.register(service)
})
