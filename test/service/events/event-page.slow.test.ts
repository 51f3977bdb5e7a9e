import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { EventSource } from 'undici'
import { afterAll, expect, it, onTestFinished, vi } from 'vitest'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { eventually } from '../../support/eventually.js'
import { startScene } from '../../support/service/scene.js'
import { shared } from '../../support/shared.js'
import { expectedMessages, isEvent, type StreamMessage } from '../../support/streams/event-messages.js'

/** An example for pages, which runs here with the EventSource of undici. */
const EXAMPLE = resolve('examples/page/events.js')

/** What the front does with streams: it passes them on, refuses them with 503, or changes their cursors to one of another log. */
let mode: 'pass' | 'refuse' | 'change cursors' = 'pass'
let refused = 0

vi.stubGlobal('EventSource', EventSource)
const { chain, service } = await startScene()
const front = await shared(
  createServer(({ url: path = '', headers }, response) => {
    if (mode === 'refuse') {
      refused++
      return response.writeHead(503).end()
    }
    const url = new URL(path, service.url)
    if (mode === 'change cursors' && url.searchParams.has('after'))
      url.searchParams.set('after', 'AAAAAAAA.7')
    return httpRequest(url, { headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.on('error', () => response.destroy()).pipe(response)
    })
      .on('error', () => response.destroy())
      .end()
  }).listen(0, '127.0.0.1'),
)

afterAll(async () => {
  vi.unstubAllGlobals()
  front.closeAllConnections()
})

/** Ends the streams, and refuses new ones until some were. */
async function refuse(times: number): Promise<void> {
  refused = 0
  mode = 'refuse'
  front.closeAllConnections()
  await eventually(
    async () => refused,
    (count) => count >= times,
  )
}

it('a page has each event once over lost connections and refusals, and is told when some may be missing', async () => {
  const { followEvents } = await import(EXAMPLE)
  const traffic = await createTraffic(chain, { seed: 61 })
  const fromBlock = (await traffic.head()).number + 1
  const seen: StreamMessage[] = []
  let gaps = 0
  const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}/v1/events`
  const onEvent = (message: StreamMessage) => void seen.push(message)
  onTestFinished(followEvents(url, onEvent, () => gaps++))
  const until = (isWanted: (messages: readonly StreamMessage[]) => boolean) =>
    eventually(async () => seen, isWanted)
  await until(({ length }) => length === 1)

  await traffic.run({ events: 2, blocks: 1 })
  front.closeAllConnections()
  await traffic.run({ events: 2, blocks: 1 })
  await refuse(3)
  await traffic.run({ events: 2, blocks: 1 })
  mode = 'pass'
  const expected = await expectedMessages(chain, fromBlock)
  await until((messages) => messages.filter(isEvent).length >= expected.length)
  expect(seen.filter(isEvent)).toMatchObject(expected)
  expect(gaps).toBe(0)

  await refuse(1)
  mode = 'change cursors'
  await until((messages) => messages.at(-1)?.type === 'connected' && gaps > 0)
  expect(gaps).toBe(1)
})
