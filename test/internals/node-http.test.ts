import { once } from 'node:events'
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http'
import { type AddressInfo, connect, Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { detachResponse } from '../../src/internals/detach-response.js'
import { interceptConnections } from '../../src/internals/intercept-connections.js'
import { hasResponseUnderWay } from '../../src/internals/response-under-way.js'
import { upgradeFilter } from '../../src/internals/upgrade-filter.js'

const GET = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nhost: a\r\n${headers}\r\n`
const UPGRADE = 'connection: upgrade\r\nupgrade: websocket\r\n'

/** Sends a text to a server; @returns the first bytes that come back */
async function exchange(server: Server, text: string): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  onTestFinished(() => {
    socket.destroy()
    server.close()
    server.closeAllConnections()
  })
  socket.setEncoding('utf8').write(text)
  const [answer] = await once(socket, 'data')
  return answer
}

test('interceptConnections passes a connection on before it is served', async () => {
  const order: string[] = []
  const server = createServer((_request, response) => {
    order.push('served')
    response.end()
  })
  interceptConnections(server, (_socket, serve) => {
    order.push('inspected')
    setImmediate(serve)
  })
  expect(await exchange(server, GET('/'))).toMatch(/^HTTP\/1\.1 200 /)
  expect(order).toEqual(['inspected', 'served'])
})

test.each([
  ['/taken', 'upgraded'],
  ['/other', 'HTTP/1.1 200 OK'],
])('upgradeFilter decides on a request for an upgrade at %s', async (path, answer) => {
  const options = { IncomingMessage: upgradeFilter(({ url }) => url === '/taken') }
  const server = createServer(options, (_request, response) => void response.end())
  server.on('upgrade', (_request, socket) => void socket.end('upgraded'))
  expect(await exchange(server, GET(path, UPGRADE))).toMatch(new RegExp(`^${answer}`))
})

test('detachResponse removes all of a response from its connection', () => {
  const socket = new Socket()
  const response = new ServerResponse(new IncomingMessage(socket))
  const before = socket.listenerCount('close')
  response.assignSocket(socket)
  detachResponse(response, socket)
  expect(response.socket).toBeNull()
  expect(socket.listenerCount('close')).toBe(before)
  expect(Object.values(socket)).not.toContain(response)
})

test.each([
  ['an answer under way', true, 'answer', GET('/')],
  ['a connection without one', false, 'HTTP/1.1 400', ''],
])('hasResponseUnderWay is right for %s', async (_what, expected, part, request) => {
  const server = createServer((_request, response) => void response.write('answer'))
  const seen = new Promise<boolean>((resolve) => {
    server.on('clientError', (_error, socket) => {
      resolve(hasResponseUnderWay(socket as Socket))
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
    })
  })
  expect(await exchange(server, `${request}\0\r\n\r\n`)).toContain(part)
  expect(await seen).toBe(expected)
})
