import { once } from 'node:events'
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** Reads the response at a URL until its text has something, and disconnects. */
export async function streamUntil(url: string, wanted: string) {
  const call = httpRequest(url).end()
  const [response] = await once(call, 'response')
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk
    if (text.includes(wanted) || response.statusCode !== 200) break
  }
  call.destroy()
  return { status: response.statusCode as number, headers: response.headers as IncomingHttpHeaders, text }
}

/** The response to a WebSocket upgrade. @param key of the handshake */
export async function handshake(url: string, key: string) {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': key,
  }
  const call = httpRequest(`${url}/v1/ws`, { headers }).end()
  const answer = await Promise.race([once(call, 'response'), once(call, 'upgrade')])
  const [response, socket]: [IncomingMessage, Socket?] = answer as never
  const text = socket === undefined ? (await response.setEncoding('utf8').toArray()).join('') : ''
  socket?.destroy()
  call.destroy()
  return { status: response.statusCode ?? 0, headers: response.headers, text }
}
