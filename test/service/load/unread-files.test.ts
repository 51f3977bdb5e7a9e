import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { MAX_OPEN_RESPONSES } from '../../../src/http/open-responses.js'
import { startScene } from '../../support/service/scene.js'
import { countConnections } from '../../support/service/server-connections.js'
import { startService, type TestService } from '../../support/service/service.js'

const BUNDLE = '/docs/swagger-ui-bundle.js'
const PIPELINED = 15
/** As many connections as hold all places of a client, and some more. */
const CONNECTIONS = Math.ceil(MAX_OPEN_RESPONSES / PIPELINED) + 5

const { chain, service } = await startScene({ environment: { TRUST_PROXY: '1' } })

/** A connection of an attacker, who reads nothing. */
async function openSocket({ url }: TestService): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).pause()
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

async function openSession(): Promise<ClientHttp2Session> {
  const session = connectHttp2(service.url, { settings: { initialWindowSize: 0 } })
  session.on('error', () => {})
  onTestFinished(() => session.destroy())
  await once(session, 'remoteSettings')
  return session
}

/** Requests files whose responses are never read. @returns how many of them the service answers */
async function requestUnread(path: string, address: string, requests: number): Promise<number> {
  const sessions = await Promise.all(Array.from({ length: Math.ceil(requests / 100) }, openSession))
  const outcomes = sessions.flatMap((session) =>
    Array.from({ length: 100 }, () => {
      const stream = session.request({ ':path': path, 'x-forwarded-for': address }).pause()
      return Promise.race([
        once(stream, 'response').then(() => true),
        once(stream, 'close').then(() => false),
      ]).catch(() => false)
    }),
  )
  return (await Promise.all(outcomes)).filter(Boolean).length
}

const statusFor = async (path: string, address: string) =>
  (await service.send('GET', path, undefined, { headers: { 'x-forwarded-for': address } })).status

it.each([BUNDLE, '/openapi.json', '/favicon.ico', '/docs', '/metrics', '/health'])(
  'one client holds a bounded number of responses of %s that it does not read, and others are served',
  async (path) => {
    const address = `198.51.100.${path.length}`
    expect(await requestUnread(path, address, 3 * MAX_OPEN_RESPONSES)).toBe(MAX_OPEN_RESPONSES)
    expect(await statusFor(path, '203.0.113.1')).toBe(200)
    expect(await statusFor('/v1/chains', address)).toBe(200)
  },
)

it('pipelined requests for files that nobody reads end their connections', async () => {
  const open = countConnections(service.url)
  const text = `GET ${BUNDLE} HTTP/1.1\r\nhost: a\r\nx-forwarded-for: 198.51.100.200\r\n\r\n`.repeat(
    PIPELINED,
  )
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => openSocket(service)))
  for (const socket of sockets) socket.write(text)
  // Connections are accepted in turn, so all are open or ended when this one is answered.
  expect(await statusFor('/v1/chains', '203.0.113.1')).toBe(200)
  await expect.poll(open).toBeLessThanOrEqual(Math.ceil(MAX_OPEN_RESPONSES / PIPELINED))
  expect(await statusFor(BUNDLE, '203.0.113.1')).toBe(200)
})

it('a client that leaves gives its places back', async () => {
  const address = '198.51.100.201'
  const session = await openSession()
  const streams = Array.from({ length: MAX_OPEN_RESPONSES }, () =>
    session.request({ ':path': BUNDLE, 'x-forwarded-for': address }).pause(),
  )
  await Promise.all(streams.map((stream) => once(stream, 'response')))
  session.destroy()
  await expect.poll(() => statusFor(BUNDLE, address).catch(() => 0)).toBe(200)
})

it('MAX_CONNECTIONS_PER_IP closes further connections of an address, until one of its own ends', async () => {
  const limited = await startService(chain, { MAX_CONNECTIONS_PER_IP: '3' })
  onTestFinished(() => limited.close())
  const open = countConnections(limited.url)
  // Half a request, whose body never comes.
  const half = `POST /v1/${chain.chainId}/quote HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{`
  const sockets = await Promise.all(Array.from({ length: 20 }, () => openSocket(limited)))
  const isOpen = sockets.map(() => true)
  for (const [index, socket] of sockets.entries()) {
    socket.on('close', () => {
      isOpen[index] = false
    })
    socket.resume().write(half)
  }
  await expect.poll(() => isOpen.filter(Boolean).length).toBe(3)
  expect(open()).toBe(3)
  sockets[isOpen.indexOf(true)]?.destroy()
  await expect
    .poll(() =>
      limited.get('/health').then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200)
})
