import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen } from '../../support/listen.js'

/** Answers one HTTP request instead of the node. `pass` lets the node answer. */
export type RawAnswer = (response: ServerResponse, body: string, pass: () => Promise<void>) => unknown

/** A JSON-RPC node whose HTTP responses a test can write byte by byte. */
export async function startRawNode(rpcUrl: string) {
  let answer: RawAnswer | undefined
  const headers = { 'content-type': 'application/json' }
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const pass = async () => {
      const real = await fetch(rpcUrl, { method: 'POST', headers, body })
      response.writeHead(200, headers).end(await real.text())
    }
    return answer === undefined ? pass() : answer(response, body, pass)
  })
  const { url } = await listen(server)
  return {
    url,
    /** Answers all requests in this way from now on, or as the node does when undefined. */
    answerWith(next: RawAnswer | undefined) {
      answer = next
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

export type RawNode = Awaited<ReturnType<typeof startRawNode>>
