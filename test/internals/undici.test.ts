import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
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

test("Node's fetch sends through the agent that the parts of undici set", async () => {
  const url = await startEcho()
  const module = new URL('../../src/internals/undici.ts', import.meta.url).href
  const program = `import { Agent } from '${module}'
    let requests = 0
    const { dispatch } = Agent.prototype
    Agent.prototype.dispatch = function (...call) {
      requests += 1
      return dispatch.apply(this, call)
    }
    const { status } = await fetch('${url}')
    console.log(status, requests)`
  const args = ['--import', 'tsx', '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(stdout.trim()).toBe('200 1')
})
