import { once } from 'node:events'
import { createClient } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'
import { describe, expect, it } from 'vitest'
import { DepositMode, OrderType, QuoteService } from '../../../gen/aggregator/v1/quote_pb.js'
import { deferred } from '../../support/deferred.js'
import { startScene } from '../../support/service/scene.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest } from '../../support/solvers/solver.js'

const environment = { QUOTE_TIMEOUT_MS: '60000' }
const { chain, service, solvers, ask } = await startScene({ solvers: ['Good', 'Other'], environment })
const [good, other] = solvers
const outcomes = (outcome: string) => service.metric('aggregator_solver_replies_total', { outcome })

describe('a caller that hangs up cancels the requests to solvers', () => {
  async function expectCancelled(call: (signal: AbortSignal) => Promise<unknown>) {
    const asked = deferred()
    const cancelled = deferred()
    const before = await outcomes('cancelled')
    good.behave(honest())
    other.behave(async (_ask, _solver, { response }) => {
      once(response, 'close').then(cancelled.open)
      asked.open()
      return undefined
    })
    const caller = new AbortController()
    const answer = call(caller.signal)
    await asked.opened
    caller.abort()
    await expect(answer).rejects.toThrow()
    await cancelled.opened
    // The end of the round would make it late.
    await expect.poll(() => outcomes('cancelled')).toBeGreaterThan(before)
  }

  it('when it uses REST', () => expectCancelled((signal) => ask({}, { signal })))

  it.each([
    ['gRPC', createGrpcTransport],
    ['gRPC-Web', createGrpcWebTransport],
    ['Connect', createConnectTransport],
  ] as const)('when it uses %s', async (_, createTransport) => {
    const client = createClient(QuoteService, createTransport({ baseUrl: service.url, httpVersion: '2' }))
    const chainId = BigInt(chain.chainId)
    const request = { ...quoteRequest(chain), chainId, originChainId: chainId, destinationChainId: chainId }
    await expectCancelled((signal) =>
      client.getQuote(
        { ...request, orderType: OrderType.EXACT_INPUT, depositMode: DepositMode.CONTRACT },
        { signal },
      ),
    )
  })
})
