import { createServer } from 'node:http'
import type { Server } from 'node:net'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../packages/protocol/src/clock.js'
import { createReplicaClient } from '../../src/cluster/replica-client.js'
import { createReplicaVerifier } from '../../src/cluster/replica-signature.js'
import { startReplicaServer } from '../../src/http/replica-server.js'
import { deferred } from '../support/deferred.js'
import { startCable } from '../support/faults/cable.js'
import { listen } from '../support/listen.js'

const REPLICA_ID = '11111111-1111-4111-8111-111111111111'
const KEY = Buffer.alloc(32, 1)
/** How long a test waits for an answer that comes. */
const LONG_MS = 20_000

type Answer = Parameters<typeof startReplicaServer>[0]['answer']

/** A replica that answers with this function. */
async function startReplica(answer: Answer, { port = 0, key = KEY } = {}) {
  const server = await startReplicaServer({
    host: '127.0.0.1',
    port,
    verify: createReplicaVerifier(REPLICA_ID, key, Date.now),
    answer,
    log: pino({ level: 'silent' }),
  })
  onTestFinished(() => server.close())
  return { ...server, url: `http://127.0.0.1:${server.port}` }
}

function openClient(url: string) {
  const client = createReplicaClient({ replicaId: REPLICA_ID, url }, KEY, systemClock)
  onTestFinished(() => client.close(new Error('the test has ended')))
  return {
    ...client,
    /** @returns the lines of the answer */
    async ask(body: string, { timeoutMs = LONG_MS, onLine = (_line: string) => {} } = {}): Promise<string[]> {
      const lines: string[] = []
      await client.send({
        body,
        timeoutMs,
        onLine(line) {
          lines.push(line)
          onLine(line)
        },
      })
      return lines
    },
  }
}

/** Answers with the request. */
const echo: Answer = async (text, onLine) => onLine(text)
/** Never ends an answer, unless the request says so. */
const holding: Answer = (text, onLine) => {
  onLine(text)
  return text === 'end' ? Promise.resolve() : new Promise(() => {})
}

/** A request whose first line has come, and that does not end. */
async function hold({ ask }: ReturnType<typeof openClient>) {
  const begun = deferred()
  const request = ask('hold', { onLine: begun.open })
  request.catch(() => {})
  await begun.opened
  return { request }
}

/** Starts a server that is no replica. @returns its origin */
async function startOther(server: Server): Promise<string> {
  const { url } = await listen(server)
  onTestFinished(() => void server.close())
  return url
}

test('each of many requests at the same time gets its own answer', async () => {
  const { url } = await startReplica(async (text, onLine) => {
    onLine(`${text} one`)
    await new Promise(setImmediate)
    onLine(`${text} two`)
  })
  const { ask } = openClient(url)
  const texts = Array.from({ length: 100 }, (_, index) => `text ${index}`)
  const answers = await Promise.all(texts.map((text) => ask(text)))
  expect(answers).toEqual(texts.map((text) => [`${text} one`, `${text} two`]))
})

test('a line arrives before the end of its answer, and a request that waits delays no other', async () => {
  const { url } = await startReplica(holding)
  const client = openClient(url)
  await hold(client)
  expect(await client.ask('end')).toEqual(['end'])
})

test.each<[string, Answer, string, onLine?: (line: string) => void]>([
  [
    'an answer of more than 4 MiB',
    async (_text, onLine) => {
      for (let index = 0; index < 65; index++) onLine('a'.repeat(2 ** 16))
    },
    'max size',
  ],
  [
    'a failure of the replica',
    async (text, onLine) => {
      onLine(text)
      throw new Error('a fault')
    },
    'other side closed',
  ],
  ['a line that its reader cannot read', echo, 'JSON', JSON.parse],
])('%s ends only its request', async (_what, answer, message, onLine) => {
  const { url } = await startReplica((...asked) => (asked[0] === 'odd' ? answer : echo)(...asked))
  const { ask } = openClient(url)
  await expect(ask('odd', { ...(onLine && { onLine }) })).rejects.toThrow(message)
  expect(await ask('text')).toEqual(['text'])
})

test('a request whose answer does not end fails after its time, and disturbs no other', async () => {
  const { url } = await startReplica(holding)
  const client = openClient(url)
  const slow = await hold(client)
  await expect(client.ask('hold once more', { timeoutMs: 50 })).rejects.toThrow('timeout')
  expect(await client.ask('end')).toEqual(['end'])
  expect(await Promise.race([slow.request, 'it waits'])).toBe('it waits')
})

test('a replica that ends fails its requests at once, and is asked again when it is back', async () => {
  const replica = await startReplica(holding)
  const client = openClient(replica.url)
  expect(await client.ask('end')).toEqual(['end'])
  const held = await hold(client)
  await replica.close()
  await expect(held.request).rejects.toThrow('other side closed')
  await expect(client.ask('end')).rejects.toThrow('ECONNREFUSED')
  await startReplica(holding, { port: replica.port })
  expect(await client.ask('end')).toEqual(['end'])
})

test('a client that is closed fails its requests with the reason, and takes no more', async () => {
  const { url } = await startReplica((text, onLine) =>
    text === 'hold' ? holding(text, onLine) : new Promise(() => {}),
  )
  const client = openClient(url)
  const unanswered = client.ask('silent')
  const begun = await hold(client)
  client.close(new Error('enough'))
  await expect(unanswered).rejects.toThrow('enough')
  await expect(begun.request).rejects.toThrow('enough')
  await expect(client.ask('text')).rejects.toThrow('destroyed')
})

test('the error of a refused request has the reason', async () => {
  const { url } = await startReplica(echo, { key: Buffer.alloc(32, 2) })
  await expect(openClient(url).ask('text')).rejects.toThrow('401: {"code":"SIGNATURE_INVALID"}')
})

test('a server that is no replica fails the request, with the first part of its answer', async () => {
  const url = await startOther(
    createServer((_request, response) => response.writeHead(404).end('a'.repeat(2 ** 16))),
  )
  await expect(openClient(url).ask('text')).rejects.toThrow(/^it answered 404: a{200}…$/)
})

test('a replica answers checks', async () => {
  const { url } = await startReplica(async (text, onLine) => onLine(JSON.parse(text).id))
  await openClient(url).check(LONG_MS)
})

test('another server at the address of a replica fails a check, also with 200', async () => {
  const url = await startOther(createServer((_request, response) => response.end('hello\n')))
  await expect(openClient(url).check(LONG_MS)).rejects.toThrow('another server answers there')
})

test('a connection that falls silent fails the next check, whatever requests have used others since', async () => {
  const { url } = await startReplica(async (text, onLine) =>
    text.startsWith('{') ? onLine(JSON.parse(text).id) : echo(text, onLine),
  )
  const cable = await startCable(url)
  onTestFinished(cable.close)
  const { ask, check } = openClient(cable.url)
  await Promise.all([ask('one'), check(LONG_MS)])
  cable.stall()
  await expect(ask('two', { timeoutMs: 50 })).rejects.toThrow('timeout')
  expect(await ask('three')).toEqual(['three'])
  await expect(check(50)).rejects.toThrow('timeout')
})
