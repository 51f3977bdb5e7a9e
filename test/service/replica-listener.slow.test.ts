import { once } from 'node:events'
import { connect } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { signReplicaText } from '../../src/cluster/replica-signature.js'
import {
  REPLICA_PATH,
  readAnswerMessage,
  toRequestMessage,
  toSignedText,
} from '../../src/cluster/replica-wire.js'
import { solverAccounts, startChain, type TestChain } from '../support/chain/chain.js'
import { makeDatabase } from '../support/databases/postgres-database.js'
import { RELAYING } from '../support/replicas/relay.js'
import { startService, type TestService } from '../support/service/service.js'
import { offering, openSession, type SessionSolver, silent } from '../support/sessions/session-solver.js'
import { quoteRequest } from '../support/solvers/quote-request.js'

const [account] = solverAccounts
/** More than the service and the connection keep of unread answers. */
const MAX_UNREAD_BYTES = 200 * 2 ** 20
/** Requests of each kind on one connection. */
const MANY = 25
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

/** What a connection request or a request is signed with. */
interface Signing {
  readonly time?: number
  readonly replicaId?: string
  readonly key?: Uint8Array
}

function sign(text: string, { time = Date.now(), replicaId = replica.id, key: by = key }: Signing = {}) {
  return { time, signature: signReplicaText(by, { replicaId, time, text }) }
}

let connections = 0
/** The headers of a request for a connection. */
function connectHeaders(signing?: Signing): Record<string, string> {
  const id = `connection ${++connections}`
  const { time, signature } = sign(`connect ${id}`, signing)
  return {
    'x-replica-connection': id,
    'x-replica-time': String(time),
    'x-replica-signature': signature,
  }
}

/** Opens a connection, as another replica does. @returns undefined after an answer that is no WebSocket */
async function dial(
  headers: Record<string, string>,
  { path = REPLICA_PATH, origin = replica.url } = {},
): Promise<{ socket: WebSocket; status?: undefined } | { socket?: undefined; status: number; body: string }> {
  const socket = new WebSocket(new URL(path, origin), { headers })
  onTestFinished(() => socket.terminate())
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve({ socket }))
    socket.once('error', reject)
    socket.once('unexpected-response', (_request, response) => {
      const { statusCode: status = 0 } = response
      readText(response).then((body) => resolve({ status, body }), reject)
    })
  })
}

async function connected(): Promise<WebSocket> {
  const { socket } = await dial(connectHeaders())
  if (socket === undefined) throw new Error('the connection was refused')
  return socket
}

let number = 0
/** A signed message with a request. */
function message(body: string, signing?: Signing): string {
  const signed = toSignedText(++number, body)
  const { time, signature } = sign(signed, signing)
  return toRequestMessage(time, signature, signed)
}

/** Sends a message. @returns the lines of the answer and its end, or why the connection was closed */
function sendTo(socket: WebSocket, text: string): Promise<{ lines: unknown[]; end: string }> {
  const lines: unknown[] = []
  return new Promise((resolve) => {
    socket.on('message', (data: Buffer) => {
      const { kind, line } = readAnswerMessage(data)
      if (kind === 'line') lines.push(JSON.parse(line))
      else resolve({ lines, end: kind })
    })
    socket.once('close', (code, reason) => resolve({ lines, end: `${code} ${reason}` }))
    socket.send(text)
  })
}

const ask = async (body: string) => sendTo(await connected(), message(body))

it('a signed request is sent on the session, and answered by the solver', async () => {
  const { lines, end } = await ask(relayed())
  expect(lines).toMatchObject([{ reply: { kind: 'replied', body: { quote: { outputAmount: '200' } } } }])
  expect(end).toBe('end')
})

it('of an answer, only the parts of an offer are sent back, and none that are too long', async () => {
  onTestFinished(() => session.behave(offering('200')))
  session.behave(async (asked, signer) => {
    const answer = await offering('200')(asked, signer)
    return { type: 'quote', ...answer, quote: { ...Object(answer?.quote), more: 'a'.repeat(60_000) } }
  })
  const { lines } = await ask(relayed())
  expect(lines).toMatchObject([{ reply: { kind: 'replied', body: { quote: { outputAmount: '200' } } } }])
  expect(JSON.stringify(lines).length).toBeLessThan(2000)
  session.behave(async ({ id }) => ({ type: 'quote', id, quote: { solver: 'a'.repeat(60_000) } }))
  expect((await ask(relayed())).lines).toEqual([{ id: `request ${requests}`, reply: { kind: 'replied' } }])
})

it('a connection carries many requests at a time, and answers each with its number', async () => {
  const socket = await connected()
  const answers = new Map<string, string[]>()
  let ended = 0
  const allEnded = new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      const answer = readAnswerMessage(data)
      if (answer.kind === 'line')
        answers.set(answer.number, [...(answers.get(answer.number) ?? []), answer.line])
      else if (++ended === 2 * MANY) resolve()
    })
  })
  const expected = new Map<string, unknown[]>()
  for (let index = 0; index < MANY; index++) {
    const pong = `ping ${index}`
    socket.send(message(relayed()))
    expected.set(String(number), [expect.stringContaining(`"request ${requests}"`)])
    socket.send(message(JSON.stringify({ type: 'ping', id: pong })))
    expected.set(String(number), [pong])
  }
  await allEnded
  expect(answers).toEqual(expected)
})

it('a request whose result is reported ends: its round has not waited for the solver', async () => {
  session.behave(silent)
  onTestFinished(() => session.behave(offering('200')))
  const asked = session.count('quoteRequest')
  const answer = ask(relayed({}, 60_000))
  const { id } = await session.next('quoteRequest', asked)
  const { sessionId } = session.ready
  const results = [{ sessionId, id, result: { outcome: 'CANCELLED' } }]
  expect((await ask(JSON.stringify({ type: 'results', results }))).end).toBe('end')
  expect((await answer).lines).toEqual([{ id, reply: { kind: 'late' } }])
})

describe('a connection is refused', () => {
  const refused = async (headers: Record<string, string>, code: string) =>
    expect(await dial(headers)).toEqual({ status: 401, body: JSON.stringify({ code }) })

  it('without a signature', () => refused({}, 'SIGNATURE_INVALID'))
  it('with a signature of another length', () =>
    refused({ ...connectHeaders(), 'x-replica-signature': 'ab' }, 'SIGNATURE_INVALID'))
  it('when another key has signed it', () =>
    refused(connectHeaders({ key: Buffer.alloc(32) }), 'SIGNATURE_INVALID'))
  it('when it is for another replica', () =>
    refused(connectHeaders({ replicaId: OTHER_REPLICA }), 'SIGNATURE_INVALID'))
  it('when its time has changed', () =>
    refused({ ...connectHeaders(), 'x-replica-time': String(Date.now() + 1000) }, 'SIGNATURE_INVALID'))
  it('when its name has changed', () =>
    refused({ ...connectHeaders(), 'x-replica-connection': 'another' }, 'SIGNATURE_INVALID'))
  it.each([-10_500, 10_500])('when its time is %i ms from the clock', (offset) =>
    refused(connectHeaders({ time: Date.now() + offset }), 'TIMESTAMP_OUT_OF_RANGE'),
  )
  it('when it comes again', async () => {
    const headers = connectHeaders()
    expect(await dial(headers)).toHaveProperty('socket')
    await refused(headers, 'SIGNATURE_REPEATED')
  })
  it('on another path', async () => {
    expect(await dial(connectHeaders(), { path: '/v1/solvers/session' })).toMatchObject({ status: 400 })
  })
  it('on the public port', async () => {
    expect(await dial(connectHeaders(), { origin: service.url })).toMatchObject({ status: 404 })
  })
})

describe('a request ends its connection, and the solver is not asked,', () => {
  const rejected = async (text: string, end: string) => {
    const before = session.count('quoteRequest')
    expect(await sendTo(await connected(), text)).toEqual({ lines: [], end })
    expect(session.count('quoteRequest')).toBe(before)
  }
  const changed = (from: string, to: string) => message(relayed()).replace(from, to)

  it('without a signature', () => rejected(relayed(), '1008 SIGNATURE_INVALID'))
  it('when another key has signed it', () =>
    rejected(message(relayed(), { key: Buffer.alloc(32) }), '1008 SIGNATURE_INVALID'))
  it('when it is for another replica', () =>
    rejected(message(relayed(), { replicaId: OTHER_REPLICA }), '1008 SIGNATURE_INVALID'))
  it('when its body has changed', () => rejected(changed('"FIRM"', '"OTHER"'), '1008 SIGNATURE_INVALID'))
  it('when its number has changed', () =>
    rejected(changed(`\n${number + 1}\n`, '\n0\n'), '1008 SIGNATURE_INVALID'))
  it('when its time has changed', () => {
    const [time = '', ...rest] = message(relayed()).split('\n')
    return rejected([Number(time) + 1, ...rest].join('\n'), '1008 SIGNATURE_INVALID')
  })
  it.each([-10_500, 10_500])('when its time is %i ms from the clock', (offset) =>
    rejected(message(relayed(), { time: Date.now() + offset }), '1008 TIMESTAMP_OUT_OF_RANGE'),
  )
  it('when it comes again, also on another connection', async () => {
    const text = message(relayed())
    expect((await sendTo(await connected(), text)).end).toBe('end')
    await rejected(text, '1008 SIGNATURE_REPEATED')
  })
  it('when it has more than 64 KiB', () => rejected(message(`"${'a'.repeat(65_536)}"`), '1009 '))
})

it('a request for a session that the replica does not hold counts for nothing, and goes no further', async () => {
  const { lines } = await ask(relayed({ sessionId: OTHER_REPLICA }))
  expect(lines).toMatchObject([{ reply: { kind: 'cancelled', reason: 'replica_unreachable' } }])
})

it.each(['GET', 'POST'])('a %s that is no WebSocket gets 426, and its connection ends', async (method) => {
  const socket = connect(Number(new URL(replica.url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write(`${method} ${REPLICA_PATH} HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}`)
  expect(await readText(socket)).toMatch(/^HTTP\/1.1 426 /)
})

it('a request with an expectation gets 426, and its connection ends', async () => {
  const socket = connect(Number(new URL(replica.url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write(`GET ${REPLICA_PATH} HTTP/1.1\r\nhost: a\r\nexpect: more\r\n\r\n`)
  expect(await readText(socket)).toMatch(/^HTTP\/1.1 426 /)
})

it('a connection that says nothing is closed, and hinders no request', async () => {
  const sockets = Array.from({ length: 100 }, () => connect(Number(new URL(replica.url).port), '127.0.0.1'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  expect((await ask(relayed())).end).toBe('end')
  await Promise.all(sockets.map((socket) => once(socket.resume(), 'close')))
})

it('a signed request that is no message gets a failure, and the next one on the connection an answer', async () => {
  const socket = await connected()
  expect(await sendTo(socket, message('{"type":"quoteRequest"}'))).toEqual({ lines: [], end: 'failed' })
  expect((await sendTo(socket, message(relayed()))).end).toBe('end')
})

it('a ping gets no answer', async () => {
  const socket = await connected()
  let pongs = 0
  socket.on('pong', () => pongs++)
  socket.ping('a')
  expect((await sendTo(socket, message(relayed()))).end).toBe('end')
  expect(pongs).toBe(0)
})

it('a replica that reads no answers loses its connection', async () => {
  const socket = await connected()
  socket.pause()
  const answered = 60_000
  let sent = 0
  while (socket.readyState === WebSocket.OPEN && sent < MAX_UNREAD_BYTES) {
    const text = message(JSON.stringify({ type: 'ping', id: 'a'.repeat(answered) }))
    await new Promise<void>((resolve) => socket.send(text, () => resolve()))
    sent += answered
  }
  expect(sent).toBeGreaterThan(16 * 2 ** 20)
  expect(sent).toBeLessThan(MAX_UNREAD_BYTES)
})
