import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { setMessageLimit, textFrame } from '../../src/internals/ws.js'
import { listen } from '../support/listen.js'

/** A WebSocket of a server, its connection, and the client's end. */
async function openWebSocket() {
  const http = createServer()
  const server = new WebSocketServer({ server: http, perMessageDeflate: false })
  const { port } = await listen(http)
  const accepted = once(server, 'connection')
  const client = new WebSocket(`ws://127.0.0.1:${port}`)
  const messages: string[] = []
  client.on('message', (data, isBinary) => messages.push(`${isBinary ? 'binary ' : ''}${data}`))
  onTestFinished(() => {
    client.terminate()
    http.close()
  })
  const [socket, { socket: connection }] = (await accepted) as [WebSocket, IncomingMessage]
  await once(client, 'open')
  return { socket, connection, client, messages }
}

test.each([0, 1, 125, 126, 65_535, 65_536])(
  'textFrame makes the frame that ws sends for %i bytes',
  async (length) => {
    const { socket, connection } = await openWebSocket()
    const written: Buffer[] = []
    const write = connection.write.bind(connection)
    connection.write = ((data: Buffer) => {
      written.push(Buffer.from(data))
      return write(data)
    }) as typeof connection.write
    const text = 'x'.repeat(length)
    socket.send(text)
    expect(Buffer.concat(written).equals(textFrame(text))).toBe(true)
  },
)

test('ws writes each of its frames at once, so that textFrame may be written between them', async () => {
  const { socket, connection, client, messages } = await openWebSocket()
  const sent: string[] = []
  for (let index = 0; index < 200; index++) {
    const text = `${index} ${'é'.repeat(index * 20)}`
    sent.push(`own ${text}`, `shared ${text}`)
    socket.send(`own ${text}`)
    socket.ping(String(index))
    connection.write(textFrame(`shared ${text}`))
  }
  socket.close(1000, 'the end')
  expect((await once(client, 'close'))[0]).toBe(1000)
  expect(messages).toEqual(sent)
})

test('setMessageLimit changes the limit of one WebSocket, for later messages', async () => {
  const { socket, client } = await openWebSocket()
  const received: number[] = []
  socket.on('message', (data) => received.push(String(data).length)).on('error', () => {})
  setMessageLimit(socket, 10)
  client.send('x'.repeat(10))
  await once(socket, 'message')
  setMessageLimit(socket, 20)
  client.send('x'.repeat(20))
  await once(socket, 'message')
  expect(received).toEqual([10, 20])
  client.send('x'.repeat(21))
  expect((await once(client, 'close'))[0]).toBe(1009)
})
