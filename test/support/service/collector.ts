import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { listen } from '../listen.js'

/** A collector of traces (OTLP over HTTP) until the end of the test. It answers with `status`; with 0, it never answers. */
export async function startCollector(status = 200) {
  const received: {
    readonly url: string | undefined
    readonly headers: IncomingHttpHeaders
    readonly body: string
  }[] = []
  const collector = { url: '', status, received }
  const server = createServer(async (request, response) => {
    received.push({ url: request.url, headers: request.headers, body: await text(request) })
    if (collector.status !== 0) response.writeHead(collector.status).end('{}')
  })
  await listen(server)
  collector.url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return collector
}
