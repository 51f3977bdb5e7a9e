import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTcpServer, type Server } from 'node:net'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { createReplicaClient } from '../../src/cluster/replica-client.js'
import { createReplicaVerifier } from '../../src/cluster/replica-signature.js'
import { startReplicaServer } from '../../src/http/replica-server.js'
import { startCable } from '../support/faults/cable.js'

const REPLICA_ID = '11111111-1111-4111-8111-111111111111'
const KEY = Buffer.alloc(32, 1)
/** How long a test waits for an answer that comes. */
const LONG_MS = 20_000

const never = () => new AbortController().signal

type Answer = Parameters<typeof startReplicaServer>[0]['answer']

/** A replica that answers with this function, and how many connections it has had. */
async function startReplica(answer: Answer, { port = 0, key = KEY } = {}) {
  const verify = createReplicaVerifier({ replicaId: REPLICA_ID, key, now: Date.now })
  const seen = { connects: 0 }
  const server = await startReplicaServer({
    host: '127.0.0.1',
    port,
    verify(time, signature, text) {
      if (typeof text === 'string') seen.connects++
      return verify(time, signature, text)
    },
    answer,
    log: pino({ level: 'silent' }),
  })
  onTestFinished(() => server.close())
  return { ...server, seen, url: `http://127.0.0.1:${server.port}` }
}

function openClient() {
  const client = createReplicaClient({ key: KEY, now: Date.now })
  onTestFinished(() => client.close())
  return {
    ...client,
    /** @returns the lines of the answer */
    async ask(url: string, body: string, { timeoutMs = LONG_MS, signal = never() } = {}): Promise<string[]> {
      const lines: string[] = []
      const onLine = (line: string) => void lines.push(line)
      await client.send({ replicaId: REPLICA_ID, url }, { body, timeoutMs, onLine }, signal)
      return lines
    },
  }
}

/** Answers with the request. */
const echo: Answer = async (text, onLine) => onLine(text)
/** Never ends an answer, unless the request says so. */
const holding: Answer = (text, onLine) => (text === 'end' ? echo(text, onLine) : new Promise(() => {}))

/** Starts a server that is no replica. @returns its origin */
async function startOther(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

test('requests at the same time share one connection', async () => {
  const { url, seen } = await startReplica(async (text, onLine) => {
    onLine(`${text} one`)
    await new Promise(setImmediate)
    onLine(`${text} two`)
  })
  const { ask } = openClient()
  const texts = Array.from({ length: 100 }, (_, index) => `text ${index}`)
  const answers = await Promise.all(texts.map((text) => ask(url, text)))
  expect(answers).toEqual(texts.map((text) => [`${text} one`, `${text} two`]))
  expect(seen.connects).toBe(1)
})

test('answers of more bytes than the connection takes at once arrive', async () => {
  const line = 'a'.repeat(2 ** 16)
  const { url } = await startReplica(async (_text, onLine) => {
    for (let index = 0; index < 500; index++) onLine(line)
  })
  expect(await openClient().ask(url, 'text')).toHaveLength(500)
})

test('a request without an answer ends after its time, and disturbs no other on a connection that works', async () => {
  const { url, seen } = await startReplica(holding)
  const { ask } = openClient()
  const slow = ask(url, 'hold')
  slow.catch(() => {})
  await expect(ask(url, 'hold', { timeoutMs: 50 })).rejects.toThrow('it does not answer')
  expect(await ask(url, 'end')).toEqual(['end'])
  await expect(ask(url, 'hold', { timeoutMs: 50 })).rejects.toThrow('it does not answer')
  expect(seen.connects).toBe(1)
})

test('a connection whose other end is gone without a word is replaced', async () => {
  const { url, seen } = await startReplica(echo)
  const cable = await startCable(url)
  onTestFinished(cable.close)
  const { ask } = openClient()
  expect(await ask(cable.url, 'one')).toEqual(['one'])
  cable.stall()
  const others = ask(cable.url, 'two')
  others.catch(() => {})
  await expect(ask(cable.url, 'three', { timeoutMs: 1000 })).rejects.toThrow('it does not answer')
  await expect(others).rejects.toThrow('it does not answer')
  expect(await ask(cable.url, 'four')).toEqual(['four'])
  expect(seen.connects).toBe(2)
})

test('a replica that ends fails its requests at once, and is asked again when it is back', async () => {
  const replica = await startReplica(holding)
  const { ask } = openClient()
  expect(await ask(replica.url, 'end')).toEqual(['end'])
  const held = ask(replica.url, 'hold')
  held.catch(() => {})
  await replica.close()
  await expect(held).rejects.toThrow('its connection has ended')
  await expect(ask(replica.url, 'end')).rejects.toThrow('ECONNREFUSED')
  await startReplica(holding, { port: replica.port })
  expect(await ask(replica.url, 'end')).toEqual(['end'])
})

test('an ended signal ends a request with its reason, at the client only', async () => {
  const { url, seen } = await startReplica(holding)
  const { ask } = openClient()
  const leaving = new AbortController()
  const held = ask(url, 'hold', { signal: leaving.signal })
  const left = expect(held).rejects.toThrow('enough')
  leaving.abort(new Error('enough'))
  await left
  await expect(ask(url, 'end', { signal: leaving.signal })).rejects.toThrow('enough')
  expect(await ask(url, 'end')).toEqual(['end'])
  expect(seen.connects).toBe(1)
})

test('a failure of the replica ends only its request', async () => {
  const { url, seen } = await startReplica(async (text, onLine) => {
    if (text === 'fail') throw new Error('a fault')
    onLine(text)
  })
  const { ask } = openClient()
  await expect(ask(url, 'fail')).rejects.toThrow('it failed to answer')
  expect(await ask(url, 'text')).toEqual(['text'])
  expect(seen.connects).toBe(1)
})

test('a line that its reader cannot read ends only its request', async () => {
  const { url } = await startReplica(echo)
  const { send, ask } = openClient()
  const target = { replicaId: REPLICA_ID, url }
  const onLine = (line: string) => JSON.parse(line)
  await expect(send(target, { body: 'text', timeoutMs: LONG_MS, onLine }, never())).rejects.toThrow('JSON')
  expect(await ask(url, 'text')).toEqual(['text'])
})

test('the error of a refused connection has the reason', async () => {
  const { url } = await startReplica(echo, { key: Buffer.alloc(32, 2) })
  await expect(openClient().ask(url, 'text')).rejects.toThrow('401: {"code":"SIGNATURE_INVALID"}')
})

test('a server that is no replica fails the request', async () => {
  const url = await startOther(createServer((_request, response) => response.end('hello')))
  await expect(openClient().ask(url, 'text')).rejects.toThrow('it answered 200: hello')
})

test('a server that is no replica fails the request, also when its answer has no end', async () => {
  const url = await startOther(createServer((_request, response) => void response.write('a'.repeat(2 ** 16))))
  await expect(openClient().ask(url, 'text')).rejects.toThrow(/it answered 200: a+/)
})

test('a server that does not answer fails the request before its time', async () => {
  const url = await startOther(createTcpServer((socket) => void socket.on('error', () => {})))
  await expect(openClient().ask(url, 'text')).rejects.toThrow('handshake has timed out')
})

test('a line of more than a MiB ends the connection', async () => {
  const { url } = await startReplica(async (text, onLine) =>
    onLine(text === 'long' ? 'a'.repeat(2 ** 20) : text),
  )
  const { ask } = openClient()
  await expect(ask(url, 'long')).rejects.toThrow('Max payload size exceeded')
  expect(await ask(url, 'text')).toEqual(['text'])
})
