import { describe, expect, it } from 'vitest'
import { eventually } from '../../../test/support/eventually.js'
import { createManualClock } from '../../../test/support/manual-clock.js'
import { type Asked, echo, type HttpAnswer, JSON_TYPE, sendJson, startEndpoint } from './nodes.js'

describe('a call ends', () => {
  it.each<[string, HttpAnswer]>([
    ['does not answer', () => {}],
    ['does not end its answer', (response) => response.writeHead(200, JSON_TYPE).write('[')],
  ])('after its time when the node %s', async (_how, answer) => {
    const clock = createManualClock()
    const { node, failure } = await startEndpoint(answer, { clock })
    const failed = failure({ timeoutMs: 700 })
    await eventually(
      async () => node.sizes(),
      ({ length }) => length > 0,
    )
    await clock.advance(1000)
    expect(await failed).toMatchObject({ kind: 'lost', isTimeout: true })
    expect(clock.waiting).toBe(0)
  })

  it('with the reason of its signal, also before it is sent', async () => {
    const caller = new AbortController()
    const reason = new Error('the caller has left')
    const { node, endpoint } = await startEndpoint(() => caller.abort(reason), { maxInFlight: 1 })
    await expect(endpoint.request('eth_call', [], { signal: caller.signal })).rejects.toBe(reason)
    await expect(endpoint.request('eth_call', [], { signal: caller.signal })).rejects.toBe(reason)
    expect(node.sizes()).toEqual([1])
  })

  it('when the client is closed, and none is sent afterwards', async () => {
    const { node, endpoint, failure } = await startEndpoint(() => endpoint.close())
    expect(await failure()).toMatchObject({ kind: 'lost', message: 'the client is closed' })
    expect(await failure()).toMatchObject({ kind: 'lost', message: 'the client is closed' })
    expect(node.sizes()).toEqual([1])
  })
})

describe('a node that closes a kept connection', () => {
  it.each<[string, HttpAnswer]>([
    ['resets', (response) => response.socket?.resetAndDestroy()],
    ['ends', (response) => response.socket?.end()],
  ])('and %s it gets the call once more on a new one', async (_how, leave) => {
    const { node, endpoint } = await startEndpoint()
    await endpoint.request('eth_call', [1])
    node.answerWith((...exchange) => {
      node.answerWith(undefined)
      leave(...exchange)
    })
    expect(await endpoint.request('eth_call', [2])).toEqual(['eth_call', 2])
    expect([node.sizes(), node.connections()]).toEqual([[1, 1, 1], 2])
  })

  it('is asked no third time', async () => {
    const { node, endpoint, failure } = await startEndpoint()
    await endpoint.request('eth_call')
    node.answerWith((response) => response.destroy())
    expect(await failure()).toMatchObject({ kind: 'lost' })
    expect(node.sizes()).toEqual([1, 1, 1])
  })
})

describe('calls alone', () => {
  it('are in no batch, and wait for no other', async () => {
    const { node, endpoint } = await startEndpoint(
      (response, asked) => {
        if ((asked as Asked).params[0] !== 0) sendJson(response, echo(asked as Asked))
      },
      { maxInFlight: 3 },
    )
    const held = endpoint.request('eth_call', [0])
    held.catch(() => {})
    expect(await Promise.all([1, 2].map((one) => endpoint.request('eth_call', [one])))).toEqual([
      ['eth_call', 1],
      ['eth_call', 2],
    ])
    expect([node.takeSizes(), node.connections()]).toEqual([[1, 1, 1], 3])
  })

  it('beyond their number are refused at once', async () => {
    const { endpoint, failure } = await startEndpoint(() => {}, { maxInFlight: 1 })
    endpoint.request('eth_call').catch(() => {})
    expect(await failure()).toMatchObject({ kind: 'refused', isRateLimit: false })
  })
})
