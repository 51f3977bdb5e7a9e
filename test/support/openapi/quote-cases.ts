import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import { deferred } from '../deferred.js'
import { eventually } from '../eventually.js'
import { quoteRequest } from '../solvers/quote-request.js'
import type { WireQuote } from '../solvers/solver.js'
import {
  BAD_TIMEOUT,
  CHECK,
  PRICE,
  QUOTE,
  RECORD,
  type Run,
  STREAM,
  TOO_LONG,
  UNKNOWN_QUOTE,
} from './cases.js'
import { DEAD_CHAIN, OFFERS, UNKNOWN_CHAIN } from './fixture.js'

/** The response to a quote request, as far as later requests need it. */
export type QuoteAnswer = Readonly<
  Record<'quoteId' | 'orderId' | 'solverSignature' | 'depositAddress', Hex> & { quote: WireQuote }
>

/** Makes the methods of QuoteService give every response that they can give. @returns that to a quote request */
export async function causeQuoteErrors(run: Run): Promise<QuoteAnswer> {
  const { ask, chain, chainId, best, other } = run
  const path = { chainId }
  const body = quoteRequest(chain)
  const answer = (await ask(QUOTE, { path, body: { ...body, verify: 'best', includeCalls: true } }))
    .body as QuoteAnswer

  await ask(QUOTE, { path, body: { ...body, amount: '-1', depositMode: 'CASH' } })
  await ask(QUOTE, { path, body: '{' })
  await ask(QUOTE, { path, body: 'a=b', headers: { 'content-type': 'text/plain' } })
  await ask(QUOTE, { path, body, headers: BAD_TIMEOUT })
  await ask(QUOTE, { path, body: TOO_LONG })
  await ask(QUOTE, { path: { chainId: UNKNOWN_CHAIN }, body })
  await ask(QUOTE, {
    path: { chainId: DEAD_CHAIN },
    body: { ...body, originChainId: DEAD_CHAIN, destinationChainId: DEAD_CHAIN },
  })
  await causePriceErrors(run)
  await causeCheckErrors(run, answer)
  await causeStreamErrors(run)
  best.behave(async (asked, { quoteFor, sign }) => sign({ ...quoteFor(asked), inputAmount: '1' }))
  other.behave(async (_asked, _solver, { response }) => void response.writeHead(422).end())
  const refused = (await ask(QUOTE, { path, body })).body as QuoteAnswer
  await ask(PRICE, { path, body: { ...priceRequest(run), amount: '7' } })
  await causeBusySolvers(run)
  best.behave(OFFERS.best)
  other.behave(OFFERS.other)

  await ask(RECORD, { path: { chainId, quoteId: answer.quoteId } })
  await ask(RECORD, { path: { chainId, quoteId: refused.quoteId } })
  await ask(RECORD, { path: { chainId, quoteId: UNKNOWN_QUOTE } })
  await ask(RECORD, { path: { chainId, quoteId: '12' } })
  await ask(RECORD, { path: { chainId: UNKNOWN_CHAIN, quoteId: UNKNOWN_QUOTE } })
  return answer
}

function priceRequest({ chain }: Pick<Run, 'chain'>) {
  const { inputToken, outputToken, orderType, amount } = quoteRequest(chain)
  return { inputToken, outputToken, orderType, amount }
}

async function causePriceErrors(run: Run): Promise<void> {
  const { ask, chainId } = run
  const path = { chainId }
  const body = priceRequest(run)
  await ask(PRICE, { path, body })
  await ask(PRICE, { path, body: { ...body, amount: '-1', outputToken: body.inputToken } })
  await ask(PRICE, { path, body: TOO_LONG })
  await ask(PRICE, { path: { chainId: UNKNOWN_CHAIN }, body })
  await ask(PRICE, { path: { chainId: DEAD_CHAIN }, body })
}

async function causeCheckErrors({ ask, chainId }: Run, answer: QuoteAnswer): Promise<void> {
  const { quote, solverSignature } = answer
  const path = { chainId }
  const body = { quote, solverSignature }
  await ask(CHECK, { path, body })
  await ask(CHECK, { path, body: { quote: { ...quote, nonce: '-1' }, solverSignature: '0x' } })
  await ask(CHECK, { path, body: TOO_LONG })
  await ask(CHECK, { path: { chainId: UNKNOWN_CHAIN }, body })
  await ask(CHECK, { path: { chainId: DEAD_CHAIN }, body })
}

async function causeStreamErrors({ ask, chain, chainId, service }: Run): Promise<void> {
  const path = { chainId }
  const body = quoteRequest(chain)
  await ask(STREAM, { path, body })
  await ask(STREAM, { path, body: { ...body, refreshSeconds: 1 } })
  await ask(STREAM, { path, body: TOO_LONG })
  await ask(STREAM, { path: { chainId: UNKNOWN_CHAIN }, body })
  await ask(STREAM, {
    path: { chainId: DEAD_CHAIN },
    body: { ...body, originChainId: DEAD_CHAIN, destinationChainId: DEAD_CHAIN },
  })
  // It takes the only place for streams.
  const leaving = new AbortController()
  await fetch(`${service.url}/v1/events`, { signal: leaving.signal })
  await ask(STREAM, { path, body })
  leaving.abort()
  await untilNobodyStreams(service)
}

/** The one stream place is free again some time after its client has left. */
export function untilNobodyStreams({ metric }: Run['service']): Promise<number> {
  return eventually(
    () => metric('aggregator_stream_clients', {}),
    (clients) => clients === 0,
  )
}

/** One request is open at each solver, and one waits: a third has no place. */
async function causeBusySolvers({ ask, chain, chainId, best, other, service }: Run): Promise<void> {
  const { opened, open } = deferred()
  for (const solver of [best, other]) {
    solver.behave(async (_asked, _solver, { response }) => {
      await opened
      return void response.writeHead(422).end()
    })
  }
  const body = quoteRequest(chain)
  const waiting = [1, 2].map(() => service.post(`/v1/${chainId}/quote`, body))
  const countWaiting = () => service.metric('aggregator_solver_requests_queued', {})
  await eventually(countWaiting, (count) => count === 2)
  await ask(QUOTE, { path: { chainId }, body })
  await ask(PRICE, { path: { chainId }, body: { ...priceRequest({ chain }), amount: '8' } })
  open()
  await Promise.all(waiting)
}
