import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

/** What a receiver got, as the library of Standard Webhooks has verified it. */
export interface Received {
  readonly id: string
  readonly headers: IncomingHttpHeaders
  readonly payload: { readonly type: string; readonly timestamp: string; readonly data: { cursor: string } }
}

/**
 * A receiver of webhooks that verifies each message.
 * @param answer gets what came, and answers it; 204 when left out
 * @param port a free one when left out
 */
export async function startReceiver(
  secret: string,
  answer: (received: Received, response: ServerResponse) => void = (_received, response) =>
    void response.writeHead(204).end(),
  port = 0,
) {
  const received: Received[] = []
  const refused: unknown[] = []
  const webhook = new Webhook(secret)
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    try {
      const { headers } = request
      const payload = webhook.verify(
        Buffer.concat(chunks).toString(),
        headers as Record<string, string>,
      ) as Received['payload']
      const message = { id: String(headers['webhook-id']), headers, payload }
      received.push(message)
      answer(message, response)
    } catch (error) {
      refused.push(error)
      response.writeHead(401).end()
    }
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const own = (server.address() as AddressInfo).port
  return {
    url: `http://127.0.0.1:${own}/events`,
    port: own,
    received,
    /** Why messages were refused: their signatures. */
    refused,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
