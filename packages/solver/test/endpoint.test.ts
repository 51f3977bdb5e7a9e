import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { answerRequest, handle } from '../src/endpoint.js'
import type { IncomingRequest, Quoting } from '../src/quoting.js'
import { quoteRequest } from './session/session-fixture.js'

const { type: _type, id: _id, deadline: _deadline, kind: _kind, ...body } = quoteRequest('q')

/** An endpoint whose answers are declines. @param prepare what a framework does before the handler */
async function serve(quoting: Quoting, prepare = async (_request: IncomingMessage) => {}) {
  const server = createServer((request, response) => {
    void prepare(request).then(() => handle((ask) => answerRequest(quoting, ask), request, response))
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close().closeAllConnections())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/quote`
}

const post = (url: string, headers = {}, signal?: AbortSignal) =>
  fetch(url, { method: 'POST', body: JSON.stringify(body), headers, ...(signal && { signal }) })

it('a request is read with its headers, and a decline has status 422 and its code', async () => {
  const asked: IncomingRequest[] = []
  const url = await serve(async (request) => {
    asked.push(request)
    return { decline: 'PAUSED' }
  })
  const headers = {
    'x-quote-kind': 'indicative',
    'x-quote-id': 'i',
    'x-request-deadline': '7',
    traceparent: 't',
  }
  const answer = await post(url, headers)
  expect([answer.status, await answer.json()]).toEqual([422, { error: 'declined', code: 'PAUSED' }])
  await post(url)
  expect(asked).toMatchObject([
    { kind: 'INDICATIVE', id: 'i', deadline: 7, traceparent: 't', amount: 10n ** 18n, chainId: 31337 },
    { kind: 'FIRM', id: undefined, traceparent: undefined },
  ])
  expect(asked[1]?.deadline).toBeGreaterThan(Date.now())
})

it('a body that a framework has parsed is taken', async () => {
  const parse = async (request: IncomingMessage) => void Object.assign(request, { body: await json(request) })
  const url = await serve(async ({ amount }) => ({ decline: amount > 0n ? 'PAUSED' : 'OTHER' }), parse)
  expect(await (await post(url)).json()).toMatchObject({ code: 'PAUSED' })
})

it('the signal aborts when the instance leaves', async () => {
  const leaving = new AbortController()
  const left = new Promise<string>((resolve) => {
    void serve(async (_request, signal) => {
      signal?.addEventListener('abort', () => resolve(String(signal.reason)))
      leaving.abort()
      return new Promise(() => {})
    }).then((url) => post(url, {}, leaving.signal).catch(() => {}))
  })
  expect(await left).toBe('Error: the instance has left')
})
