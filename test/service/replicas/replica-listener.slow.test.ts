import { once } from 'node:events'
import { connect } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import pg from 'pg'
import { afterAll, afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { REPLICA_PATH, signReplicaText } from '../../../src/cluster/replica-signature.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { makeDatabase } from '../../support/databases/postgres-database.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { offering, openSession, silent } from '../../support/sessions/session-solver.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { RELAYING } from './relay.js'

const [account] = solverAccounts
const OTHER_REPLICA = '11111111-1111-4111-8111-111111111111'

const chain = await shared(startModelChain({ bonded: 1 }))
const database = await makeDatabase()
const service = await shared(startService(chain, { DATABASE_URL: database.url, ...RELAYING }))
const session = await openSession(service.url, chain, account, { behaviour: offering('200') })
const client = new pg.Client({ connectionString: database.url })
await client.connect()
/** This replica, as the database names it. */
const replica = (await client.query('select id, url from replicas')).rows[0]
const { rows } = await client.query('select replica_key from replica_keys')
const key = Buffer.from(rows[0].replica_key, 'hex')
await client.end()

afterAll(async () => {
  session?.leave()
  await database?.drop()
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

/** What a request is signed with. */
interface Signing {
  readonly time?: number
  readonly replicaId?: string
  readonly key?: Uint8Array
}

/** The headers of a request with this body. */
function sign(body: string, { time = Date.now(), replicaId = replica.id, key: by = key }: Signing = {}) {
  return {
    'x-replica-time': String(time),
    'x-replica-signature': signReplicaText(by, { replicaId, time, text: body }),
  }
}

/** Posts a request, as another replica does. */
async function post(
  body: string,
  headers: Record<string, string> = sign(body),
  { path = REPLICA_PATH, origin = replica.url } = {},
) {
  const response = await fetch(new URL(path, origin), { method: 'POST', headers, body })
  return {
    status: response.status,
    connection: response.headers.get('connection'),
    body: await response.text(),
  }
}

/** @returns the lines of the answer to a signed request */
async function ask(body: string): Promise<string[]> {
  const answer = await post(body)
  expect(answer.status).toBe(200)
  return answer.body.split('\n').slice(0, -1)
}

const askSolver = async (body: string) => (await ask(body)).map((line) => JSON.parse(line))

/** Sends the bytes of a request. @returns all that comes until the connection ends */
async function sendRaw(request: string): Promise<string> {
  const socket = connect(Number(new URL(replica.url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write(request)
  return readText(socket)
}

it('of an answer, only the parts of an offer are sent back, and none that are too long', async () => {
  onTestFinished(() => session.behave(offering('200')))
  session.behave(async (asked, signer) => {
    const answer = await offering('200')(asked, signer)
    return { type: 'quote', ...answer, quote: { ...Object(answer?.quote), more: 'a'.repeat(60_000) } }
  })
  const lines = await askSolver(relayed())
  expect(lines).toMatchObject([{ reply: { kind: 'replied', body: { quote: { outputAmount: '200' } } } }])
  expect(JSON.stringify(lines).length).toBeLessThan(2000)
  session.behave(async ({ id }) => ({ type: 'quote', id, quote: { solver: 'a'.repeat(60_000) } }))
  expect(await askSolver(relayed())).toEqual([{ id: `request ${requests}`, reply: { kind: 'replied' } }])
})

it('a request whose result is reported ends: its round has not waited for the solver', async () => {
  session.behave(silent)
  onTestFinished(() => session.behave(offering('200')))
  const asked = session.count('quoteRequest')
  const answer = askSolver(relayed({}, 600_000))
  const { id } = await session.next('quoteRequest', asked)
  const { sessionId } = session.ready
  const results = [{ sessionId, id, result: { outcome: 'CANCELLED' } }]
  expect(await ask(JSON.stringify({ type: 'results', results }))).toEqual([])
  expect(await answer).toEqual([{ id, reply: { kind: 'late' } }])
})

describe('a request is refused, its connection ends, and the solver is not asked,', () => {
  const refused = async (headers: Record<string, string>, code: string, body = relayed()) => {
    const before = session.count('quoteRequest')
    expect(await post(body, headers)).toEqual({
      status: 401,
      connection: 'close',
      body: JSON.stringify({ code }),
    })
    expect(session.count('quoteRequest')).toBe(before)
  }
  const rejects = (signing: Signing, code = 'SIGNATURE_INVALID') => {
    const body = relayed()
    return refused(sign(body, signing), code, body)
  }
  it('when another key has signed it', () => rejects({ key: Buffer.alloc(32) }))
  it('when it is for another replica', () => rejects({ replicaId: OTHER_REPLICA }))
  it.each([-10_500, 10_500])('when its time is %i ms from the clock', (offset) =>
    rejects({ time: Date.now() + offset }, 'TIMESTAMP_OUT_OF_RANGE'),
  )
})

it('a signed request on the public port gets 404', async () => {
  const body = relayed()
  expect(await post(body, sign(body), { origin: service.url })).toMatchObject({ status: 404 })
})

it('a request for a session that the replica does not hold counts for nothing, and goes no further', async () => {
  expect(await askSolver(relayed({ sessionId: OTHER_REPLICA }))).toMatchObject([
    { reply: { kind: 'cancelled', reason: 'replica_unreachable' } },
  ])
})

it.each([
  ['a GET', 404, `GET ${REPLICA_PATH} HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}`],
  [
    'a WebSocket',
    404,
    `GET ${REPLICA_PATH} HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`,
  ],
  ['another expectation', 417, `POST ${REPLICA_PATH} HTTP/1.1\r\nhost: a\r\nexpect: more\r\n\r\n`],
  [
    'a body of more than 64 KiB',
    413,
    `POST ${REPLICA_PATH} HTTP/1.1\r\nhost: a\r\ncontent-length: 65537\r\n\r\n`,
  ],
  [
    'a body of unknown length',
    413,
    `POST ${REPLICA_PATH} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n`,
  ],
  ['a body without an end', 408, `POST ${REPLICA_PATH} HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{`],
  [
    'headers of more than 4 KiB',
    431,
    `POST ${REPLICA_PATH} HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(5000)}\r\n\r\n`,
  ],
])('%s gets %i, and its connection ends', async (_what, status, request) => {
  expect(await sendRaw(request)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
})

it('a connection that says nothing is closed, and hinders no request', async () => {
  const sockets = Array.from({ length: 100 }, () => connect(Number(new URL(replica.url).port), '127.0.0.1'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  expect(await ask(relayed())).toHaveLength(1)
  await Promise.all(sockets.map((socket) => once(socket.resume(), 'close')))
})
