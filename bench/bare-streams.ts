/**
 * The limit for idle streams on gRPC: plain Connect on node:http2, with a method that sends one small message and then waits
 * until its client leaves.
 */
import { once } from 'node:events'
import { createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { connectNodeAdapter } from '@connectrpc/connect-node'
import { QuoteService } from '../gen/aggregator/v1/quote_pb.js'

const routes = connectNodeAdapter({
  routes: (router) =>
    void router.service(QuoteService, {
      async *streamQuotes(_request, { signal }) {
        yield { message: { case: 'done', value: { round: 1 } } }
        await once(signal, 'abort')
      },
    }),
})
const server = createServer(routes).listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`)
})
// The parent process has ended.
process.stdin.resume().on('end', () => process.exit())
