import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { closeQueuedResponse, hasResponseUnderWay, stopListening } from '../../src/internals/node-http.js'
import { listen } from '../support/listen.js'

const GET = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`

/** Sends a text to a server; @returns the first bytes that come back */
async function exchange(server: Server, text: string): Promise<string> {
  const { port } = await listen(server)
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => {
    socket.destroy()
    server.close()
    server.closeAllConnections()
  })
  socket.setEncoding('utf8').write(text)
  const [answer] = await once(socket, 'data')
  return answer
}

test('stopListening leaves idle connections open, and lets them be answered', async () => {
  const server = createServer((_request, response) => void response.end('answer'))
  const { port } = await listen(server)
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  onTestFinished(() => void socket.destroy())
  socket.write(GET('/'))
  await once(socket, 'data')
  await stopListening(server)
  const [error] = await once(connect(port, '127.0.0.1'), 'error').catch((thrown) => [thrown])
  expect(error.code).toBe('ECONNREFUSED')
  socket.write(GET('/'))
  expect((await once(socket, 'data'))[0]).toContain('answer')
})

test('closeQueuedResponse ends each response once, whether or not Node ends it with its connection', async () => {
  const responses: ServerResponse[] = []
  const server = createServer((_request, response) => void responses.push(response))
  const { port } = await listen(server)
  onTestFinished(() => void server.close())
  const accepted = once(server, 'connection')
  const socket = connect(port, '127.0.0.1')
  socket.write(GET('/first') + GET('/queued'))
  const [connection] = await accepted
  await expect.poll(() => responses.length).toBe(2)
  const closed: string[] = []
  for (const response of responses) response.once('close', () => closed.push(response.req.url ?? ''))
  socket.destroy()
  await once(connection, 'close')
  for (const response of responses) closeQueuedResponse(response)
  await turn()
  expect(closed).toEqual(['/first', '/queued'])
  expect(responses.map(({ destroyed }) => destroyed)).toEqual([true, true])
})

test.each([
  ['an answer under way', true, GET('/')],
  ['a connection without one', false, ''],
])('hasResponseUnderWay is right for %s', async (_what, expected, request) => {
  const server = createServer((_request, response) => void response.write('answer'))
  const seen = new Promise<boolean>((resolve) => {
    server.on('clientError', (_error, socket) => {
      resolve(hasResponseUnderWay(socket as Socket))
      socket.end('end')
    })
  })
  await exchange(server, `${request}\0\r\n\r\n`)
  expect(await seen).toBe(expected)
})
