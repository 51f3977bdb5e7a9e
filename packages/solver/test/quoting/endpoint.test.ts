import type { IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { serve } from '../../../client/test/server.js'
import { systemClock } from '../../../protocol/src/clock.js'
import { answerRequest, type EndpointRequest, handle } from '../../src/quoting/endpoint.js'
import type { Quoting } from '../../src/quoting/quoting.js'
import type { IncomingRequest } from '../../src/session/wire-forms.js'
import { quoteRequest } from '../session/session-fixture.js'

const { type: _type, id: _id, deadline: _deadline, kind: _kind, ...body } = quoteRequest('q')

const SECRET = 'Zm9yIHRoZSB0ZXN0cyBvbmx5'
const ENDPOINT_URL = `https://solver.example/${SECRET}/`

/** An endpoint whose answers are declines. @param prepare what a framework does before the handler */
async function serveQuoting(quoting: Quoting, prepare = async (_request: IncomingMessage) => {}) {
  const answer = (ask: EndpointRequest) => answerRequest(quoting, ask, systemClock)
  const { url } = await serve((request, response) => {
    void prepare(request).then(() => handle(ENDPOINT_URL, answer, request, response))
  })
  return `${url}/${SECRET}/quote`
}

/** An endpoint that declines all requests, and those that it was asked. */
async function serveDeclining(prepare?: (request: IncomingMessage) => Promise<void>) {
  const asked: IncomingRequest[] = []
  const url = await serveQuoting(async (request) => {
    asked.push(request)
    return { decline: 'PAUSED' }
  }, prepare)
  return { url, asked }
}

const post = (url: string, headers = {}, signal?: AbortSignal) =>
  fetch(url, { method: 'POST', body: JSON.stringify(body), headers, ...(signal && { signal }) })

it('a request is read with its headers, and a decline has status 422 and its code', async () => {
  const { url, asked } = await serveDeclining()
  const headers = { 'x-quote-kind': 'indicative', 'x-quote-id': 'i', 'x-request-deadline': '7' }
  const answer = await post(url, headers)
  expect([answer.status, await answer.json()]).toEqual([422, { error: 'declined', code: 'PAUSED' }])
  // The requests of a flood that wait behind it are not read.
  expect(answer.headers.get('connection')).toBe('close')
  await post(url)
  await post(url, { 'x-quote-kind': 'firm' })
  expect(asked).toMatchObject([
    { kind: 'INDICATIVE', id: 'i', deadline: 7, amount: 10n ** 18n, chainId: 31337 },
    { kind: 'FIRM', id: undefined },
    { kind: 'FIRM' },
  ])
  expect(asked[1]?.deadline).toBeGreaterThan(Date.now())
})

it('headers of an instance cannot control a terminal, and long ones are left out', async () => {
  const { url, asked } = await serveDeclining()
  await post(url, { 'x-quote-id': 'a\u009bb' })
  await post(url, { 'x-quote-id': 'x'.repeat(257) })
  expect(asked).toMatchObject([{ id: 'a?b' }, { id: undefined }])
})

it('a body that a framework has parsed is taken', async () => {
  const parse = async (request: IncomingMessage) => void Object.assign(request, { body: await json(request) })
  const url = await serveQuoting(async ({ amount }) => ({ decline: amount > 0n ? 'PAUSED' : 'OTHER' }), parse)
  expect(await (await post(url)).json()).toMatchObject({ code: 'PAUSED' })
})

it('the signal aborts when the instance leaves', async () => {
  const leaving = new AbortController()
  const left = new Promise<string>((resolve) => {
    void serveQuoting(async (_request, _source, signal) => {
      signal?.addEventListener('abort', () => resolve(String(signal.reason)))
      leaving.abort()
      return new Promise(() => {})
    }).then((url) => post(url, {}, leaving.signal).catch(() => {}))
  })
  expect(await left).toBe('Error: the instance has left')
})

it('only the path of the registered endpoint is answered', async () => {
  const { url } = await serveDeclining()
  const { origin } = new URL(url)
  const paths = [
    `/${SECRET}/quote?x=1`,
    '/quote',
    `/${SECRET.slice(1)}/quote`,
    `/a/${SECRET}/quote`,
    `/${SECRET}`,
  ]
  const statuses = await Promise.all(paths.map(async (path) => (await post(origin + path)).status))
  expect(statuses).toEqual([422, 404, 404, 404, 404])
})

it('a framework that has cut the path still gives the whole one', async () => {
  const { url } = await serveDeclining(
    async (request) => void Object.assign(request, { originalUrl: request.url, url: '/quote' }),
  )
  expect((await post(url)).status).toBe(422)
})

it('a solver without an endpoint answers nothing', async () => {
  const quoting: Quoting = async () => ({ decline: 'PAUSED' })
  const { url } = await serve((request, response) => {
    void handle(undefined, (ask) => answerRequest(quoting, ask, systemClock), request, response)
  })
  expect((await post(`${url}/quote`)).status).toBe(404)
})

it.each([
  ['x-quote-kind', 'INDICATIVE'],
  ['x-request-deadline', 'soon'],
  ['x-request-deadline', '0x7'],
])('the header %s: %s has status 400', async (name, value) => {
  const { url, asked } = await serveDeclining()
  const answer = await post(url, { [name]: value })
  expect([answer.status, asked]).toEqual([400, []])
})

it.each([
  ['is not JSON', '{'],
  ['lacks fields', '{}'],
  ['is too long', JSON.stringify(body) + ' '.repeat(16 * 1024)],
])('a body that %s has status 400', async (_, text) => {
  const { url, asked } = await serveDeclining()
  const answer = await fetch(url, { method: 'POST', body: text })
  expect([answer.status, asked]).toEqual([400, []])
})
