import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import { user } from '../../support/chain/chain.js'
import { startScene } from '../../support/service/scene.js'
import { type ExpectedEnd, endOn, transports, webSocket } from '../../support/streams/transports.js'

const CURSOR_UNKNOWN: ExpectedEnd = {
  webSocket: 1008,
  http: 400,
  rpc: 'OUT_OF_RANGE',
  reason: 'CURSOR_UNKNOWN',
}
const CHAIN_NOT_SUPPORTED: ExpectedEnd = {
  webSocket: 1008,
  http: 404,
  rpc: 'NOT_FOUND',
  reason: 'CHAIN_NOT_SUPPORTED',
}
const INVALID: ExpectedEnd = {
  webSocket: 1008,
  http: 400,
  rpc: 'INVALID_ARGUMENT',
  reason: 'INVALID_ARGUMENT',
}

const { chain, service } = await startScene()

const clients = async () => service.metric('aggregator_stream_clients', {})

describe.each(transports)('$name', (transport) => {
  it('rejects an unknown cursor', async () => {
    const refused = transport.open(service.url, { after: 'nonsense' })
    const end = await refused.ended()
    expect(end).toMatchObject(endOn(transport, CURSOR_UNKNOWN))
    expect(end.text).toContain('cursor')
    expect(refused.messages).toEqual([])
  })

  it('rejects a request with the names of all bad filters', async () => {
    const request = {
      type: ['Nothing'],
      orderId: [user.address],
      user: [user.address, ''],
      solver: [`0x${'ab'.repeat(32)}`],
    }
    const end = await transport.open(service.url, request).ended()
    const fields = Object.keys(request)
    expect(end).toMatchObject(endOn(transport, { ...INVALID, fields }))
    if (transport !== webSocket) for (const field of fields) expect(end.text).toContain(field)
  })

  it('rejects an unsupported chain before any other fault', async () => {
    const request = { chainId: [chain.chainId, 1], user: ['nobody'], after: 'nonsense' }
    const end = await transport.open(service.url, request).ended()
    expect(end).toMatchObject(endOn(transport, CHAIN_NOT_SUPPORTED))
    expect(end.text).toContain(`Chain 1 is not supported here. Supported: ${chain.chainId}.`)
  })
})

it.each([
  '?chainid=999&usr=0x12',
  `?chainid=${encodeURIComponent('ü'.repeat(500))}&${encodeURIComponent('é'.repeat(60))}=1`,
])('an unknown query parameter is rejected on WebSockets with the known ones: %s', async (query) => {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/ws${query}`)
  const [code, reason] = await once(socket, 'close')
  const text =
    'chainid is not a parameter of this path: use after, chainId, type, orderId, user, solver, health'
  expect([code, reason.toString()]).toEqual([1008, expect.stringContaining(text.slice(0, 123))])
})

it('rejected streams hold no place', async () => {
  expect(await clients()).toBe(0)
})
