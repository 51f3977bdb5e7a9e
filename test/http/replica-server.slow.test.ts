import { once } from 'node:events'
import { connect } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createReplicaVerifier, REPLICA_PATH, signReplicaText } from '../../src/cluster/replica-signature.js'
import { startReplicaServer } from '../../src/http/replica-server.js'
import { createLog } from '../../src/telemetry/log.js'
import { shared } from '../support/shared.js'

const REPLICA_ID = '11111111-1111-4111-8111-111111111111'
const OTHER_REPLICA = '22222222-2222-4222-8222-222222222222'
const KEY = Buffer.alloc(32, 1)
const BODY = '{}'

let answered = 0
const { port } = await shared(
  startReplicaServer({
    host: '127.0.0.1',
    port: 0,
    verify: createReplicaVerifier(REPLICA_ID, KEY, Date.now),
    async answer(text, onLine) {
      answered++
      onLine(text)
    },
    log: createLog('silent'),
  }),
)

beforeEach(() => {
  answered = 0
})

/** Posts a request, as another replica does. */
async function post({ time = Date.now(), replicaId = REPLICA_ID, key = KEY } = {}) {
  const headers = {
    'x-replica-time': String(time),
    'x-replica-signature': signReplicaText(key, { replicaId, time, text: BODY }),
  }
  const response = await fetch(`http://127.0.0.1:${port}${REPLICA_PATH}`, {
    method: 'POST',
    headers,
    body: BODY,
  })
  return {
    status: response.status,
    connection: response.headers.get('connection'),
    body: await response.text(),
  }
}

describe('a request is refused, its connection ends, and it gets no answer,', () => {
  it.each([
    ['when another key has signed it', 'SIGNATURE_INVALID', { key: Buffer.alloc(32) }],
    ['when it is for another replica', 'SIGNATURE_INVALID', { replicaId: OTHER_REPLICA }],
    ['when its time is before the clock', 'TIMESTAMP_OUT_OF_RANGE', { time: Date.now() - 10_500 }],
    ['when its time is after the clock', 'TIMESTAMP_OUT_OF_RANGE', { time: Date.now() + 60_000 }],
  ])('%s', async (_when, code, signing) => {
    expect(await post(signing)).toEqual({ status: 401, connection: 'close', body: JSON.stringify({ code }) })
    expect(answered).toBe(0)
  })
})

it.each([
  ['a GET', 404, `GET ${REPLICA_PATH} HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}`],
  ['another path', 404, 'POST /other HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}'],
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
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write(request)
  expect(await readText(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(answered).toBe(0)
})

it('a connection that says nothing is closed, and hinders no request', async () => {
  const sockets = Array.from({ length: 100 }, () => connect(port, '127.0.0.1'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  expect(await post()).toMatchObject({ status: 200, body: `${BODY}\n` })
  await Promise.all(sockets.map((socket) => once(socket.resume(), 'close')))
})
