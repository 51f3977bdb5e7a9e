import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { startService, type TestService } from '../../support/service/service.js'

const CONNECTIONS = 10
/** As many requests as fit into one packet that a server reads at once. */
const BURST = 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1900)
/**
 * Far less than the bursts took without a limit, and far more than one response takes on a loaded machine.
 */
const HONEST_MS = 2000
const MAX_GROWTH_BYTES = 100 * 1024 * 1024

let chain: TestChain
let service: TestService

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  service = await startService(chain)
})

afterAll(async () => {
  await service?.close()
  await chain?.stop()
})

it('a burst of pipelined requests ends its connection, and neither delays others nor fills memory', async () => {
  expect((await service.get('/health')).status).toBe(200)
  const { hostname, port } = new URL(service.url)
  const before = process.memoryUsage().rss
  const startedAt = performance.now()
  const sockets = Array.from({ length: CONNECTIONS }, () => connect(Number(port), hostname))
  const closed = sockets.map((socket) => {
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {}).resume()
    socket.write(BURST)
    return new Promise((resolve) => socket.once('close', resolve))
  })
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const { status } = await service.get('/health')
  const tookMs = performance.now() - startedAt
  await Promise.all(closed)
  expect(status).toBe(200)
  expect(tookMs).toBeLessThan(HONEST_MS)
  expect(process.memoryUsage().rss - before).toBeLessThan(MAX_GROWTH_BYTES)
})

it('concurrent requests for metrics share one response over HTTP/2', async () => {
  const session = connectHttp2(service.url)
  onTestFinished(() => session.destroy())
  await once(session, 'remoteSettings')
  const texts = await Promise.all(
    Array.from({ length: 200 }, async () =>
      (await session.request({ ':path': '/metrics' }).setEncoding('utf8').toArray()).join(''),
    ),
  )
  for (const text of texts) expect(text).toContain('process_resident_memory_bytes')
  // Each rendering reads the processor's time.
  expect(new Set(texts).size).toBeLessThan(20)
})
