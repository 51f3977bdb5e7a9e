import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { deferred } from '../../../../test/support/deferred.js'
import { createAggregatorClient } from '../../src/index.js'
import { PARAMS } from '../samples.js'
import { NO_ORDER, serve } from '../server.js'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Collects all garbage, also what only ended callbacks hold. */
async function collectGarbage(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await turn()
    collect()
  }
}

/** An instance that begins an answer and never ends it, and a client of it. */
async function unfinished(contentType: string, beginning: string, status = 200) {
  const answered = deferred()
  const left = deferred()
  const { url } = await serve((_request, response) => {
    response.on('close', left.open)
    response.writeHead(status, { 'content-type': contentType }).write(beginning)
  })
  const client = createAggregatorClient({
    baseUrl: url,
    timeoutMs: 300,
    async fetch(...request) {
      const response = await fetch(...request)
      answered.open()
      return response
    },
  })
  return { client, answered, left }
}

const events = () =>
  unfinished('text/event-stream', 'data: {"type":"connected","supportedChains":[1],"cursor":"a.1"}\n\n')

it.each(['streamEvents', 'streamQuotes'] as const)(
  'a caller that aborts %s after a garbage collection leaves the instance',
  async (method) => {
    const { client, answered, left } = await events()
    const leaving = new AbortController()
    const options = { signal: leaving.signal }
    const stream =
      method === 'streamEvents' ? client.streamEvents({}, options) : client.streamQuotes(PARAMS, options)
    const messages: AsyncIterator<unknown> = stream[Symbol.asyncIterator]()
    const pending = messages
      .next()
      .then(() => messages.next())
      .catch(() => {})
    await answered.opened
    await collectGarbage()
    leaving.abort()
    await left.opened
    await pending
  },
)

it.each([
  ['an answer', 200],
  ['an error', 500],
])('a call whose instance stops within %s is TIMED_OUT after a garbage collection', async (_name, status) => {
  const { client, answered, left } = await unfinished('application/json', '{"state":', status)
  const answer = client.getOrder(1, NO_ORDER.orderId)
  answered.opened.then(collectGarbage)
  await expect(answer).rejects.toMatchObject({ reason: 'TIMED_OUT' })
  await left.opened
})
