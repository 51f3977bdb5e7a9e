import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import { type RawAnswer, type RawNode, startRawNode } from '../../support/faults/raw-node.js'
import { useWatchedChain } from '../../support/faults/watched-chain.js'
import { expectedMessages, standing } from '../../support/streams/event-messages.js'

const MEGABYTE = 1024 * 1024
const on = useWatchedChain({ seed: 81, pollIntervalMs: 100 })
let node: RawNode

beforeEach(async () => {
  node = await startRawNode(on.chain.devnet.rpcUrl)
})
afterEach(() => node.close())

/** Begins an answer that never ends. */
function drip(asked: () => void): RawAnswer {
  return (response) => {
    response.setHeader('content-type', 'application/json').write('[')
    const timer = setInterval(() => response.write(' '), 1000)
    response.once('close', () => clearInterval(timer))
    asked()
  }
}

describe('an answer of a node whose body never ends', () => {
  it('is cancelled, and the next endpoint is called', async () => {
    await on.start({ [`RPC_URL_${on.chain.chainId}`]: [node.url, on.rpc.url].join() })
    await on.traffic.run({ events: 2, blocks: 2 })
    await on.untilRead()
    const { opened, open } = deferred()
    node.answerWith(drip(open))
    await opened
    node.answerWith(undefined)
    await on.traffic.run({ events: 3, blocks: 3 })
    const expected = await expectedMessages(on.chain, on.from)
    await on.events.untilCount(expected.length)
    expect(standing(on.events.events())).toEqual(expected)
    expect(on.rpc.requests().length).toBeGreaterThan(1)
  })

  it('does not delay the end of the service', async () => {
    await on.start({ [`RPC_URL_${on.chain.chainId}`]: node.url })
    const { opened, open } = deferred()
    node.answerWith(drip(open))
    await opened
    on.events.close()
    const start = performance.now()
    await on.service.close()
    expect(performance.now() - start).toBeLessThan(2500)
  })
})

describe('a long answer of a node that has almost no content', () => {
  it.each([
    ['empty objects', `[{"jsonrpc":"2.0","id":0,"result":[${'{},'.repeat((10 * MEGABYTE) / 3)}{}]}]`],
    ['lists in lists', '['.repeat(5 * MEGABYTE) + ']'.repeat(5 * MEGABYTE)],
  ])('of %s is rejected before it is parsed', async (_what, text) => {
    await on.start({ [`RPC_URL_${on.chain.chainId}`]: node.url })
    await on.untilRead()
    const delay = monitorEventLoopDelay({ resolution: 10 })
    delay.enable()
    node.answerWith((response) => response.writeHead(200, { 'content-type': 'application/json' }).end(text))
    await eventually(on.chainHealth, ({ status }) => status === 'down')
    delay.disable()
    expect(delay.max / 1e6).toBeLessThan(1000)
    expect(on.lines.at(-1)).toMatchObject({ reason: expect.stringContaining('far more values') })
    node.answerWith(undefined)
    await eventually(on.chainHealth, ({ status }) => status === 'ok')
  })
})
