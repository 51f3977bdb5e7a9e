import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createPublicClient, webSocket } from 'viem'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { closeRpcSockets } from '../../src/internals/close-rpc-sockets.js'

test('closeRpcSockets closes the sockets of one URL, and the next call opens another', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  let opened = 0
  server.on('connection', (socket) => {
    opened++
    socket.on('message', (data) => {
      const { id } = JSON.parse(String(data))
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }))
    })
  })
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = createPublicClient({ transport: webSocket(url, { reconnect: false, retryCount: 0 }) })
  expect(await client.getChainId()).toBe(1)
  closeRpcSockets('ws://127.0.0.1:1')
  expect([await client.getChainId(), opened]).toEqual([1, 1])
  const [socket] = server.clients
  closeRpcSockets(url)
  if (socket !== undefined) await once(socket, 'close')
  expect([await client.getChainId(), opened]).toEqual([1, 2])
  closeRpcSockets(url)
})
