import { once } from 'node:events'
import { connect } from 'node:net'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { REPLICA_PATH } from '../../src/cluster/replica-client.js'
import { signReplicaRequest } from '../../src/cluster/replica-signature.js'
import { solverAccounts, startChain, type TestChain } from '../support/chain/chain.js'
import { makeDatabase } from '../support/databases/postgres-database.js'
import { RELAYING } from '../support/replicas/relay.js'
import { startService, type TestService } from '../support/service/service.js'
import { offering, openSession, type SessionSolver, silent } from '../support/sessions/session-solver.js'
import { quoteRequest } from '../support/solvers/quote-request.js'

const [account] = solverAccounts
const OTHER_REPLICA = '11111111-1111-4111-8111-111111111111'

let chain: TestChain
let database: Awaited<ReturnType<typeof makeDatabase>>
let service: TestService
let session: SessionSolver
/** This replica, as the database names it. */
let replica: { id: string; url: string }
let key: Buffer

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
  database = await makeDatabase()
  service = await startService(chain, { DATABASE_URL: database.url, ...RELAYING })
  session = await openSession(service.url, chain, account, { behaviour: offering('200') })
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  replica = (await client.query('select id, url from replicas')).rows[0]
  const { rows } = await client.query('select replica_key from replica_keys')
  key = Buffer.from(rows[0].replica_key, 'hex')
  await client.end()
})
afterAll(async () => {
  session?.leave()
  await service?.close()
  await database?.drop()
  await chain?.stop()
})
afterEach(() => {
  expect(session.count('error')).toBe(0)
})

let requests = 0
/** A request for the session, as another replica sends it. */
function relayed(changes: object = {}, waitMs = 1000): string {
  const { inputToken, outputToken, amount } = quoteRequest(chain)
  const deadline = Math.floor(Date.now() / 1000) + 300
  const body = {
    inputToken,
    outputToken,
    orderType: 'EXACT_INPUT',
    amount,
    userAddress: account.address,
    chainId: chain.chainId,
    destinationChainId: chain.chainId,
    depositMode: 'CONTRACT',
    depositDeadline: deadline,
    fillDeadline: deadline + 300,
  }
  return JSON.stringify({
    type: 'quoteRequest',
    solvers: [
      {
        sessionId: session.ready.sessionId,
        address: account.address.toLowerCase(),
        id: `request ${++requests}`,
        ...changes,
      },
    ],
    kind: 'FIRM',
    deadline: Date.now() + waitMs,
    waitMs,
    body,
  })
}

async function post(body: string, signature?: string, time = Date.now(), init: RequestInit = {}) {
  const response = await fetch(`${replica.url}${REPLICA_PATH}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-replica-time': String(time),
      ...(signature !== undefined && { 'x-replica-signature': signature }),
    },
    body,
    ...init,
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}
const sign = (body: string, time = Date.now(), replicaId = replica.id, by: Uint8Array = key) =>
  signReplicaRequest(by, { replicaId, time, body })
const signed = (body: string, time = Date.now()) => post(body, sign(body, time), time)

it('a signed request is sent on the session, and answered by the solver', async () => {
  const { status, body } = await signed(relayed())
  expect(status).toBe(200)
  expect(body.reply).toMatchObject({ kind: 'replied', body: { quote: { outputAmount: '200' } } })
})

it('a request whose result is reported ends: its round has not waited for the solver', async () => {
  session.behave(silent)
  onTestFinished(() => session.behave(offering('200')))
  const asked = session.count('quoteRequest')
  const answer = signed(relayed({}, 60_000))
  const { id } = await session.next('quoteRequest', asked)
  const { sessionId } = session.ready
  const results = [{ sessionId, id, result: { outcome: 'CANCELLED' } }]
  expect((await signed(JSON.stringify({ type: 'results', results }))).status).toBe(200)
  expect((await answer).body).toEqual({ id, reply: { kind: 'late' } })
})

describe('a request is rejected, and the solver not asked,', () => {
  const refused = async (answer: Promise<{ status: number; body: unknown }>, code: string) => {
    const before = session.count('quoteRequest')
    expect(await answer).toEqual({ status: 401, body: { code } })
    expect(session.count('quoteRequest')).toBe(before)
  }

  it('without a signature', () => refused(post(relayed()), 'SIGNATURE_INVALID'))
  it('with a signature of another length', () => refused(post(relayed(), 'ab'), 'SIGNATURE_INVALID'))
  it('when another key has signed it', () => {
    const [body, time] = [relayed(), Date.now()]
    return refused(post(body, sign(body, time, replica.id, Buffer.alloc(32)), time), 'SIGNATURE_INVALID')
  })
  it('when it is for another replica', () => {
    const [body, time] = [relayed(), Date.now()]
    return refused(post(body, sign(body, time, OTHER_REPLICA), time), 'SIGNATURE_INVALID')
  })
  it('when its body has changed', () => {
    const [body, time] = [relayed(), Date.now()]
    return refused(post(body.replace('1000', '2000'), sign(body, time), time), 'SIGNATURE_INVALID')
  })
  it('when its time has changed', () => {
    const [body, time] = [relayed(), Date.now()]
    return refused(post(body, sign(body, time), time + 1), 'SIGNATURE_INVALID')
  })
  it.each([-10_500, 10_500])('when its time is %i ms from the clock', (offset) =>
    refused(signed(relayed(), Date.now() + offset), 'TIMESTAMP_OUT_OF_RANGE'),
  )
  it('when it comes again', async () => {
    const [body, time] = [relayed(), Date.now()]
    expect((await post(body, sign(body, time), time)).status).toBe(200)
    await refused(post(body, sign(body, time), time), 'REQUEST_REPEATED')
  })
})

it('a request for a session that the replica does not hold counts for nothing, and goes no further', async () => {
  const { body } = await signed(relayed({ sessionId: OTHER_REPLICA }))
  expect(body.reply).toEqual({ kind: 'cancelled', reason: 'replica_unreachable' })
})

it.each([
  ['of another path', 404, { path: '/v1/solvers/session' }],
  ['of another method', 404, { method: 'GET' }],
  ['that is no JSON', 415, { type: 'text/plain' }],
  ['of more than 64 KiB', 413, { body: `"${'a'.repeat(65_536)}"` }],
])(
  'a request %s gets %i',
  async (_which, status, {
    path = REPLICA_PATH,
    method = 'POST',
    type,
    body,
  }: {
    path?: string
    method?: string
    type?: string
    body?: string
  }) => {
    const response = await fetch(`${replica.url}${path}`, {
      method,
      headers: { 'content-type': type ?? 'application/json' },
      ...(method === 'POST' && { body: body ?? '{}' }),
    })
    expect(response.status).toBe(status)
  },
)

it('the public port does not answer requests of replicas', async () => {
  const body = relayed()
  const time = Date.now()
  const response = await fetch(`${service.url}${REPLICA_PATH}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-replica-time': String(time),
      'x-replica-signature': sign(body, time),
    },
    body,
  })
  expect(response.status).toBe(404)
})

it('a connection that says nothing is closed, and hinders no request', async () => {
  const sockets = Array.from({ length: 100 }, () => connect(Number(new URL(replica.url).port), '127.0.0.1'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  expect((await signed(relayed())).status).toBe(200)
  await Promise.all(sockets.map((socket) => once(socket.resume(), 'close')))
})

it('a rejected request ends its connection, so that a stranger cannot hold many', async () => {
  const socket = connect(Number(new URL(replica.url).port), '127.0.0.1').resume()
  onTestFinished(() => void socket.destroy())
  const head = 'host: a\r\ncontent-type: application/json\r\ncontent-length: 2'
  socket.write(`POST ${REPLICA_PATH} HTTP/1.1\r\n${head}\r\n\r\n{}`)
  await once(socket, 'end')
})

it('a signed request that is no message gets an error, and the next one an answer', async () => {
  expect(await signed('{"type":"quoteRequest"}')).toEqual({ status: 500, body: { code: 'INTERNAL' } })
  expect((await signed(relayed())).status).toBe(200)
})
