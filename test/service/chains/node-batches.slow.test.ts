import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/config/environment.js'
import { deferred } from '../../support/deferred.js'
import { type RawAnswer, type RawNode, startRawNode } from '../../support/faults/raw-node.js'
import { useWatchedChain } from '../../support/faults/watched-chain.js'
import { expectedMessages, standing } from '../../support/streams/event-messages.js'

const on = useWatchedChain({ seed: 82, pollIntervalMs: 100 })
let node: RawNode

beforeEach(async () => {
  node = await startRawNode(on.chain.devnet.rpcUrl)
})
afterEach(() => node.close())

/** Without that of the clock: traffic moves the chain's time ahead of it. */
const warnings = () => on.lines.filter(({ clockSkewMs }) => clockSkewMs === undefined)

const JSON_TYPE = { 'content-type': 'application/json' }
const REFUSAL = JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: { code: -32600, message: 'batches are not supported' },
})

/** Rejects batches of more than `limit` calls in one of the ways of `REFUSALS`, and counts them. */
function refuseAbove(limit: number, refuse: RawAnswer) {
  const sizes: number[] = []
  const answer: RawAnswer = (response, body, pass) => {
    const calls = JSON.parse(body)
    if (!Array.isArray(calls) || calls.length <= limit) return pass()
    sizes.push(calls.length)
    return refuse(response, body, pass)
  }
  return { sizes, answer }
}

const byObject: RawAnswer = (response) => response.writeHead(200, JSON_TYPE).end(REFUSAL)

/** An error for each call. */
const errorForEach: RawAnswer = (response, body) => {
  const error = { code: -32603, message: 'Internal error' }
  const answers = JSON.parse(body).map(({ id }: { id: number }) => ({ jsonrpc: '2.0', id, error }))
  response.writeHead(200, JSON_TYPE).end(JSON.stringify(answers))
}

const REFUSALS: readonly (readonly [string, RawAnswer])[] = [
  ['one error object', byObject],
  ['status 500 and an error object', (response) => response.writeHead(500, JSON_TYPE).end(REFUSAL)],
  ['status 403 and a text', (response) => response.writeHead(403).end('Forbidden')],
  ['status 429', (response) => response.writeHead(429).end()],
  ['an error for each call', errorForEach],
  ['status 400 and an error object', (response) => response.writeHead(400, JSON_TYPE).end(REFUSAL)],
  ['status 400 and no body', (response) => response.writeHead(400).end()],
  ['status 405 and a text', (response) => response.writeHead(405).end('Method Not Allowed')],
  ['status 501 and a page', (response) => response.writeHead(501).end('<html>Not Implemented</html>')],
  ['status 400 and a list', (response) => response.writeHead(400, JSON_TYPE).end(`[${REFUSAL}]`)],
  ['a list of one error', (response) => response.writeHead(200, JSON_TYPE).end(`[${REFUSAL}]`)],
  ['an empty list', (response) => response.writeHead(200, JSON_TYPE).end('[]')],
  ['nothing', (response) => response.writeHead(200, JSON_TYPE).end()],
]

describe('a node that answers each batch with', () => {
  it.each(REFUSALS)('%s gets single calls, and no call fails because of it', async (_how, refuse) => {
    const { sizes, answer } = refuseAbove(0, refuse)
    node.answerWith(answer)
    await on.start({ [`RPC_URL_${on.chain.chainId}`]: node.url })
    expect((await on.chainHealth()).status).toBe('ok')
    await on.traffic.run({ events: 4, blocks: 30 })
    const expected = await expectedMessages(on.chain, on.from)
    await on.events.untilCount(expected.length)
    expect(standing(on.events.events())).toEqual(expected)
    // Some batches have failed, and only single calls are left to try.
    const refused = sizes.length
    await on.traffic.run({ events: 2, blocks: 10 })
    await on.untilRead()
    expect(sizes).toHaveLength(refused)
    expect(warnings()).toEqual([])
    expect(await on.failedLooks()).toBe(0)
    expect(await on.service.metric('aggregator_rpc_requests_total', { outcome: 'error' })).toBe(0)
    expect(await on.service.metric('aggregator_rpc_requests_total', { outcome: 'refused' })).toBe(0)
  })
})

describe('a node without batches', () => {
  it('is checked at the start like any other', async () => {
    node.answerWith(refuseAbove(0, byObject).answer)
    const start = on.start({ [`RPC_URL_${on.chain.chainId}`]: node.url, PROTOCOL_NAME: 'Acme' })
    await expect(start).rejects.toThrow(ConfigError)
    await expect(start).rejects.toThrow('PROTOCOL_NAME is "Acme"')
  })
})

describe('a node that accepts batches of ten', () => {
  it('is read in batches of ten at most after few rejections', async () => {
    await on.start({ [`RPC_URL_${on.chain.chainId}`]: node.url })
    await on.traffic.run({ events: 2, blocks: 2 })
    await on.untilRead()
    const { opened, open } = deferred()
    node.answerWith((response) => {
      response.writeHead(502).end()
      open()
    })
    await opened
    await on.traffic.run({ events: 40, blocks: 40 })
    const { sizes, answer } = refuseAbove(10, byObject)
    const taken: number[] = []
    node.answerWith((response, body, pass) => {
      const calls = JSON.parse(body)
      if (Array.isArray(calls)) taken.push(calls.length)
      return answer(response, body, pass)
    })
    const expected = await expectedMessages(on.chain, on.from)
    await on.events.untilCount(expected.length)
    expect(standing(on.events.events())).toEqual(expected)
    expect(sizes.length).toBeGreaterThan(0)
    taken.length = 0
    await on.traffic.run({ events: 2, blocks: 40 })
    await on.untilRead()
    expect(Math.max(0, ...taken)).toBeLessThanOrEqual(10)
  })
})

describe('a node that omits a part of a batch', () => {
  it('gives no call the answer to another one', async () => {
    node.answerWith(async (response, body, pass) => {
      const calls = JSON.parse(body)
      if (!Array.isArray(calls) || calls.length < 2) return pass()
      const [, ...rest] = calls
      const real = await fetch(on.chain.devnet.rpcUrl, {
        method: 'POST',
        headers: JSON_TYPE,
        body: JSON.stringify(rest),
      })
      response.writeHead(200, JSON_TYPE).end(await real.text())
    })
    await on.start({ [`RPC_URL_${on.chain.chainId}`]: node.url })
    await on.traffic.run({ events: 4, blocks: 4 })
    const expected = await expectedMessages(on.chain, on.from)
    await on.events.untilCount(expected.length)
    expect(standing(on.events.events())).toEqual(expected)
    expect(warnings()).toEqual([])
  })
})
