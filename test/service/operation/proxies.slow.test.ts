import { once } from 'node:events'
import { connect } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { sendTo, startService } from '../../support/service/service.js'
import { transports as sessionTransports } from '../../support/sessions/session-connections.js'
import { offering, openSession } from '../../support/sessions/session-solver.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, startSolver } from '../../support/solvers/solver.js'
import { quoteTransports, readAll } from '../../support/streams/quote-stream-clients.js'
import { openAll } from '../../support/streams/transports.js'
import { METRICS_SPELLINGS, rawGet } from './metrics-spellings.js'
import { PROXIES, startProxy, writeCertificate } from './proxies.js'

/** After any time that the chain has. */
const NEVER = 4_294_967_295
const ORIGIN = 'https://quotes.example.org'
const ORDERS_A_MINUTE = 3
const ATTACK = { connections: 10, streams: 100, address: '127.0.0.2' }
const HALF_REQUESTS = 450
/** Replies of a solver, more than the megabyte that nginx lets a request have by itself. */
const LONG_REPLIES = 20
const LONG_SIGNATURE = `0x${'ab'.repeat(30_000)}`
/** Most connections of one address that HAProxy keeps. nginx cannot count those without headers. */
const MOST_KEPT = 120
const [httpSolver, sessionSolver] = solverAccounts

const chain = await shared(startModelChain({ bonded: 3 }))
const traffic = await createTraffic(chain, { seed: 21 })
const service = await shared(
  startService(chain, {
    TRUST_PROXY: '1',
    PUBLIC_URLS: ORIGIN,
    RATE_LIMIT_ORDER: String(ORDERS_A_MINUTE),
    RATE_LIMIT_QUOTE: '0',
  }),
)
const solver = await shared(startSolver(chain, httpSolver, honest({ output: '1000' })))
await solver.register(service)

function openTls(port: number, ALPNProtocols?: string[]): TLSSocket {
  const socket = connectTcp({ port, host: '127.0.0.1', localAddress: ATTACK.address })
  return connectTls({ socket, ALPNProtocols, rejectUnauthorized: false })
}

async function serialOf(port: number): Promise<string> {
  const socket = openTls(port)
  await once(socket, 'secureConnect')
  const { serialNumber } = socket.getPeerCertificate()
  socket.destroy()
  return serialNumber
}

/** Requests files on each of some connections, and reads nothing. */
async function readNothing(port: number): Promise<void> {
  const { connections, streams } = ATTACK
  const sessions = Array.from({ length: connections }, () =>
    connect(`https://127.0.0.1:${port}`, {
      createConnection: () => openTls(port, ['h2']),
      settings: { initialWindowSize: 0 },
    }),
  )
  for (const session of sessions) {
    session.on('error', () => {})
    onTestFinished(() => session.destroy())
    for (let stream = 0; stream < streams; stream++)
      session
        .request({ ':path': '/docs/swagger-ui-bundle.js' })
        .on('error', () => {})
        .pause()
  }
  await Promise.all(sessions.map((session) => once(session, 'remoteSettings')))
}

/** Opens connections that send half of a request's headers. @returns the number of those that are still open */
async function openHalfRequests(port: number, length = HALF_REQUESTS): Promise<() => number> {
  const sockets = Array.from({ length }, () => openTls(port).on('error', () => {}))
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
  for (const socket of sockets) socket.resume().write('GET /health HTTP/1.1\r\n')
  await Promise.allSettled(sockets.map((socket) => once(socket, 'secureConnect')))
  return () => sockets.filter(({ closed }) => !closed).length
}

async function healthStatuses(url: string): Promise<number[]> {
  const statuses: number[] = []
  for (let request = 0; request < 20; request++) {
    const answer = sendTo(url).get('/health')
    statuses.push((await answer.catch(() => undefined))?.status ?? 0)
  }
  return statuses
}

for (const program of PROXIES)
  describe.skipIf(program.isMissing)(
    `${program.name} as the documents show it (needs it from Debian)`,
    () => {
      let proxy: Awaited<ReturnType<typeof startProxy>>

      beforeAll(async () => {
        proxy = await startProxy(program, service.url)
      })
      afterAll(() => proxy?.close())

      it('REST answers, and /metrics is closed', async () => {
        const { get, post } = sendTo(proxy.url)
        const quote = await post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
        expect(quote.status).toBe(200)
        expect(quote.body.quote).toMatchObject({ solver: httpSolver.address, outputAmount: '1000' })
        expect((await get('/v1/chains')).status).toBe(200)
        expect((await get('/metrics')).status).toBe(404)
      })

      it('/metrics is closed in all spellings', async () => {
        for (const path of METRICS_SPELLINGS) {
          const { status, body } = await rawGet(proxy.url, path)
          expect([path, status]).toEqual([path, expect.toBeOneOf([400, 404])])
          expect(body).not.toContain('process_')
        }
      })

      it('ten connections of one address that read nothing do not keep others out', async () => {
        await readNothing(proxy.port)
        expect(await healthStatuses(proxy.url)).toEqual(Array(20).fill(200))
      })

      it('half requests of one address do not keep others out', async () => {
        const countOpen = await openHalfRequests(proxy.port)
        if (program.name === 'HAProxy') expect(countOpen()).toBeLessThanOrEqual(MOST_KEPT)
        expect(await healthStatuses(proxy.url)).toEqual(Array(20).fill(200))
      })

      it('each transport of event streams sends an event while it stays open', async () => {
        const clients = await openAll(proxy.url)
        const { actions, mine } = traffic
        const deposit = { user: user.address, solver: httpSolver, inputAmount: 1000n, outputAmount: 1000n }
        await mine([actions.deposit(actions.order({ ...deposit, fillDeadline: NEVER }))])
        for (const client of clients) {
          expect(await client.take(1)).toMatchObject([{ type: 'Deposited' }])
          client.leave()
        }
      })

      it.each(quoteTransports)('quotes stream over $name', async ({ open }) => {
        const messages = await readAll(open(proxy.url, chain.chainId, quoteRequest(chain)))
        expect(messages.map(({ type }) => type)).toEqual(['quote', 'done'])
      })

      it.each(sessionTransports)('a solver quotes on a long session over $name', async (transport) => {
        const offer = offering('2000')
        const session = await openSession(proxy.url, chain, sessionSolver, {
          transport,
          behaviour: async (ask, signer) => ({
            ...(await offer(ask, signer)),
            type: 'quote',
            signature: LONG_SIGNATURE,
          }),
          audience: ORIGIN,
        })
        const ask = () => sendTo(proxy.url).post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
        for (let sent = 0; sent < LONG_REPLIES; sent++) await ask()
        session.behave(offer)
        const { body } = await ask()
        session.leave()
        expect(body.quote).toMatchObject({ solver: sessionSolver.address, outputAmount: '2000' })
        await session.ended
      })

      it.skipIf(program.name !== 'nginx')('a new certificate is served without a reload', async () => {
        const before = await serialOf(proxy.port)
        await writeCertificate(proxy.folder)
        expect(await serialOf(proxy.port)).not.toBe(before)
      })

      it('a client cannot choose its own address', async () => {
        const path = `/v1/${chain.chainId}/order/0x${'ab'.repeat(32)}`
        // The proxies of this file share the machine's address, and its window.
        const statuses: number[] = []
        for (let request = 0; request <= ORDERS_A_MINUTE; request++) {
          const headers = { 'x-forwarded-for': `198.51.100.${request}` }
          statuses.push((await sendTo(proxy.url).send('GET', path, undefined, { headers })).status)
        }
        expect(statuses.at(-1)).toBe(429)
      })
    },
  )
