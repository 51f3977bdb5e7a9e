import { once } from 'node:events'
import { createServer as createTcpServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { WebSocket } from 'ws'
import { eventually } from '../../../test/support/eventually.js'
import { listen } from '../../../test/support/listen.js'
import { createManualClock } from '../../../test/support/manual-clock.js'
import { createRpcEndpoint, type RpcEndpointOptions } from '../src/rpc-endpoint.js'
import { echo, startHttpNode, startSocketNode } from './nodes.js'

async function start(options: RpcEndpointOptions = {}) {
  const node = await startSocketNode()
  const endpoint = createRpcEndpoint(node.url, options)
  onTestFinished(endpoint.close)
  return { node, endpoint, call: (...params: unknown[]) => endpoint.request('eth_call', params) }
}

const untilAsked = (asked: readonly unknown[], count: number) =>
  eventually(
    async () => asked.length,
    (length) => length >= count,
  )

describe('a WebSocket', () => {
  it('is shared by all calls, whose answers may come in any order', async () => {
    const { node, call } = await start()
    node.answerWith((socket) => {
      if (node.asked.length < 20) return
      for (const asked of node.asked.toReversed()) socket.send(JSON.stringify(echo(asked)))
    })
    const numbers = Array.from({ length: 20 }, (_, index) => index)
    expect(await Promise.all(numbers.map((number) => call(number)))).toEqual(
      numbers.map((number) => ['eth_call', number]),
    )
    expect(node.opened()).toBe(1)
  })

  it('that is lost fails its calls, and the next call opens another', async () => {
    const { node, call } = await start()
    await call(1)
    node.answerWith((socket) => socket.terminate())
    await expect(Promise.all([call(2), call(3)])).rejects.toMatchObject({ kind: 'lost', isTimeout: false })
    node.answerWith(undefined)
    expect([await call(4), node.opened()]).toEqual([['eth_call', 4], 2])
  })

  it('that is disconnected fails its calls, and the next call opens another', async () => {
    const { node, endpoint, call } = await start()
    node.answerWith(() => endpoint.disconnect())
    await expect(call(1)).rejects.toMatchObject({ kind: 'lost' })
    node.answerWith(undefined)
    expect([await call(2), node.opened()]).toEqual([['eth_call', 2], 2])
  })

  it('passes on the errors of a node, and leaves out what answers no call', async () => {
    const { node, call } = await start()
    node.answerWith((socket, { id }) => {
      for (const text of ['null', '[]', '', 'no JSON', '{"result":1}', `{"id":${id + 1},"result":1}`])
        socket.send(text)
      socket.send(JSON.stringify({ id, error: { code: 3, message: 'execution reverted', data: '0x01' } }))
    })
    await expect(call()).rejects.toMatchObject({ kind: 'answered', code: 3, data: '0x01' })
  })

  it('outlives a pushed message of another shape', async () => {
    const { node, endpoint, call } = await start()
    await endpoint.subscribeToHeads?.(
      () => {},
      () => {},
    )
    node.answerWith((socket, { id }) => {
      for (const subscription of ['{"toString":1}', '[]', 'null', '1'])
        socket.send(`{"method":"eth_subscription","params":{"subscription":${subscription},"result":{}}}`)
      socket.send(JSON.stringify({ id, result: '0x1' }))
    })
    expect(await call()).toBe('0x1')
  })

  it('whose listener of heads fails is closed, and the next call opens another', async () => {
    const { node, endpoint, call } = await start()
    const lost: string[] = []
    node.answerWith((socket, { id }) => {
      socket.send(JSON.stringify({ id, result: '0x7' }))
      socket.send('{"method":"eth_subscription","params":{"subscription":"0x7","result":{}}}')
    })
    const onHead = () => {
      throw new Error('no header')
    }
    await endpoint.subscribeToHeads?.(onHead, () => lost.push('lost'))
    await expect.poll(() => lost).toEqual(['lost'])
    node.answerWith(undefined)
    expect([await call(2), node.opened()]).toEqual([['eth_call', 2], 2])
  })

  it('that does not answer ends a call after its time, and the next call opens another', async () => {
    const clock = createManualClock()
    const { node, call } = await start({ clock, timeoutMs: 900 })
    node.answerWith(() => {})
    const failed = expect(call(1)).rejects.toMatchObject({ kind: 'lost', isTimeout: true })
    await untilAsked(node.asked, 1)
    await clock.advance(1000)
    await failed
    node.answerWith(undefined)
    expect([await call(2), node.opened()]).toEqual([['eth_call', 2], 2])
  })

  it('whose handshake is not answered ends its calls after their time', async () => {
    const silent = createTcpServer()
    const { port } = await listen(silent)
    onTestFinished(() => void silent.close())
    const connected = once(silent, 'connection')
    const clock = createManualClock()
    const endpoint = createRpcEndpoint(`ws://127.0.0.1:${port}`, { clock, timeoutMs: 900 })
    onTestFinished(endpoint.close)
    const failed = expect(endpoint.request('eth_call')).rejects.toMatchObject({
      kind: 'lost',
      isTimeout: true,
    })
    const [socket] = await connected
    onTestFinished(() => socket.destroy())
    await clock.advance(1000)
    await failed
  })

  it.each([
    [429, { kind: 'refused', status: 429, isRateLimit: true }],
    [403, { kind: 'refused', status: 403, isRateLimit: false }],
    [302, { kind: 'refused', status: 302 }],
  ])('that is refused by status %i says so', async (status, expected) => {
    const node = await startHttpNode()
    const server = createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () =>
        socket.end(`HTTP/1.1 ${status} No\r\nLocation: ${node.url}\r\nContent-Length: 0\r\n\r\n`),
      )
    })
    const { port } = await listen(server)
    onTestFinished(() => void server.close())
    const endpoint = createRpcEndpoint(`ws://127.0.0.1:${port}`)
    onTestFinished(endpoint.close)
    await expect(endpoint.request('eth_call')).rejects.toMatchObject(expected)
    expect(node.sizes()).toEqual([])
  })

  it('takes no message that is too long', async () => {
    const { node, call } = await start({ maxBytes: 1000 })
    node.answerWith((socket, asked) =>
      socket.send(JSON.stringify({ ...echo(asked), result: 'x'.repeat(2000) })),
    )
    await expect(call()).rejects.toMatchObject({ kind: 'too_long' })
  })

  it('opens no more after the client is closed', async () => {
    const { node, endpoint, call } = await start()
    node.answerWith(() => endpoint.close())
    await expect(call()).rejects.toMatchObject({ kind: 'lost' })
    await expect(call()).rejects.toMatchObject({ kind: 'lost', message: 'the client is closed' })
    expect(node.opened()).toBe(1)
  })
})

describe('a subscription to heads', () => {
  const push = (socket: WebSocket, subscription: string, result: unknown) =>
    socket.send(
      JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params: { subscription, result } }),
    )

  async function subscribe() {
    const { node, endpoint, call } = await start()
    const heads: unknown[] = []
    let lost = 0
    let last = 0
    node.answerWith((socket, asked) => {
      if (asked.method !== 'eth_subscribe') return socket.send(JSON.stringify(echo(asked)))
      const id = `0x${++last}`
      socket.send(JSON.stringify({ ...echo(asked), result: id }))
      push(socket, id, { number: id })
      push(socket, '0xff', { number: '0xff' })
      push(socket, id, null)
    })
    const begin = () =>
      endpoint.subscribeToHeads?.(
        (head) => heads.push(head),
        () => lost++,
      )
    return { node, endpoint, call, begin, heads, lost: () => lost }
  }

  it('brings its own heads, also those that come with the answer', async () => {
    const { call, begin, heads } = await subscribe()
    expect(await begin()).toBe(true)
    await call()
    expect(heads).toEqual([{ number: '0x1' }])
  })

  it('replaces an earlier one', async () => {
    const { node, call, begin, heads } = await subscribe()
    await begin()
    await begin()
    await call()
    const ends = node.asked.filter(({ method }) => method === 'eth_unsubscribe')
    expect([heads, ends.map(({ params }) => params)]).toEqual([
      [{ number: '0x1' }, { number: '0x2' }],
      [['0x1']],
    ])
  })

  it('ends with its socket, once', async () => {
    const { node, call, begin, lost } = await subscribe()
    await begin()
    for (const socket of node.sockets()) socket.terminate()
    await eventually(
      async () => lost(),
      (count) => count > 0,
    )
    await call()
    expect(lost()).toBe(1)
  })

  it('that a node refuses is none, and one that is lost is an error', async () => {
    const { node, begin } = await subscribe()
    node.answerWith((socket, { id }) =>
      socket.send(JSON.stringify({ id, error: { code: -32601, message: 'no' } })),
    )
    expect(await begin()).toBe(false)
    node.answerWith((socket) => socket.terminate())
    await expect(begin()).rejects.toMatchObject({ kind: 'lost' })
  })

  it('is not offered over HTTP', () => {
    const endpoint = createRpcEndpoint('http://127.0.0.1:1')
    onTestFinished(endpoint.close)
    expect(endpoint.subscribeToHeads).toBeUndefined()
  })
})

describe('calls alone', () => {
  it('have sockets of their own while they are under way, which later ones use again', async () => {
    const { node, call } = await start({ maxInFlight: 3 })
    node.answerWith((socket, asked) => {
      if (asked.params[0] !== 'held') socket.send(JSON.stringify(echo(asked)))
    })
    const held = call('held')
    held.catch(() => {})
    for (const number of [1, 2, 3]) expect(await call(number)).toEqual(['eth_call', number])
    expect(node.opened()).toBe(2)
  })

  it('that end early close their own socket, and no other', async () => {
    const { node, call, endpoint } = await start({ maxInFlight: 3 })
    node.answerWith(() => {})
    const caller = new AbortController()
    const left = endpoint.request('eth_call', [], { signal: caller.signal })
    const other = call('other')
    await untilAsked(node.asked, 2)
    caller.abort()
    await expect(left).rejects.toThrow()
    await eventually(
      async () => node.sockets().length,
      (count) => count === 1,
    )
    const asked = node.asked.find(({ params }) => params[0] === 'other')
    for (const socket of node.sockets()) socket.send(JSON.stringify({ id: asked?.id, result: 1 }))
    expect(await other).toBe(1)
  })

  it('leave a socket open for thirty seconds', async () => {
    const clock = createManualClock()
    const { node, call } = await start({ maxInFlight: 3, clock })
    await call()
    await clock.advance(29_999)
    expect(node.sockets()).toHaveLength(1)
    await clock.advance(1)
    await eventually(
      async () => node.sockets().length,
      (count) => count === 0,
    )
    expect(await call(1)).toEqual(['eth_call', 1])
  })
})
