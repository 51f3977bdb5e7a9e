import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as undici from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { Agent, buildConnector, errors, request } from '../../src/internals/undici.js'

/** Answers with the method, the path and the body of each request. */
async function startEcho(): Promise<URL> {
  const server = createServer(async (message, response) => {
    const body = await message.toArray()
    response.end(JSON.stringify([message.method, message.url, Buffer.concat(body).toString()]))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/path?key=value`)
}

test('the parts of undici are those of its main file', () => {
  expect({ Agent, buildConnector, errors }).toEqual({
    Agent: undici.Agent,
    buildConnector: undici.buildConnector,
    errors: undici.errors,
  })
})

test("request sends what undici's own request sends", async () => {
  const url = await startEcho()
  const dispatcher = new Agent()
  onTestFinished(() => dispatcher.destroy())
  const options = { method: 'POST', body: 'text' } as const
  const sent = await request(dispatcher, url, options)
  const expected = await undici.request(url, { ...options, dispatcher })
  expect(sent.statusCode).toBe(200)
  expect(await sent.body.json()).toEqual(['POST', '/path?key=value', 'text'])
  expect(await expected.body.json()).toEqual(['POST', '/path?key=value', 'text'])
})

test("Node's fetch sends through the agent that undici sets", async () => {
  const url = await startEcho()
  const before = undici.getGlobalDispatcher()
  const counted = new Agent()
  let requests = 0
  const dispatch = counted.dispatch.bind(counted)
  counted.dispatch = (...call) => {
    requests += 1
    return dispatch(...call)
  }
  undici.setGlobalDispatcher(counted)
  onTestFinished(async () => {
    undici.setGlobalDispatcher(before)
    await counted.destroy()
  })
  expect(before).toBeInstanceOf(Agent)
  expect((await fetch(url)).status).toBe(200)
  expect(requests).toBe(1)
})
