import { solverAccounts, user } from '../chain/chain.js'
import type { Order } from '../chain/order-actions.js'
import { eventually } from '../eventually.js'
import { signOwnResults } from '../solvers/own-results.js'
import { quoteRequest } from '../solvers/quote-request.js'
import { nextTimestamp, signedRegistration, signedUnregistration } from '../solvers/solver.js'
import { webSocket } from '../streams/transports.js'
import {
  BAD_TIMEOUT,
  CHAINS,
  CHECK,
  EVENTS,
  LIST,
  ORDER,
  ORDERS,
  PAIRS,
  PRICE,
  QUOTE,
  READY,
  RECORD,
  REGISTER,
  RESULTS,
  type Run,
  SOCKET,
  SOLVER_STATS,
  STATS,
  STREAM,
  TOKENS,
  TOO_LONG,
  UNKNOWN_ORDER,
  UNKNOWN_QUOTE,
  UNREGISTER,
} from './cases.js'
import { createAsker, type Exchange } from './exchanges.js'
import { DEAD_CHAIN, type OpenApiFixture, PUBLIC_URL, UNKNOWN_CHAIN } from './fixture.js'
import { causeQuoteErrors, type QuoteAnswer, untilNobodyStreams } from './quote-cases.js'
import { causeRefusals } from './refusal-cases.js'
import { handshake, streamUntil } from './streams.js'

const [registered, second, bonded] = solverAccounts
const unbonded = solverAccounts[5]

/** The results of a run: every response, and a message of the stream of each kind. */
export interface CausedError {
  readonly exchanges: readonly Exchange[]
  readonly events: readonly { type: string }[]
}

/** Makes every route of the service give every response that it can give. */
export async function causeErrors(fixture: OpenApiFixture): Promise<CausedError> {
  const exchanges: Exchange[] = []
  const asker = createAsker(fixture.service.url, exchanges)
  const { ask, keep } = asker
  const run = { ...fixture, ask, keep, chainId: fixture.chain.chainId }

  await causeRegistrationErrors(run)
  const answer = await causeQuoteErrors(run)
  const events = await causeEventErrors(run, toOrder(answer))
  await causeOrderErrors(run, answer.orderId)
  await causeTokenErrors(run)
  await causeResultErrors(run)
  await causeUnregistrationErrors(run)
  await causeRejections(run)
  await fixture.withBrokenClock(() => causeFailures(run))
  await causeRefusals(fixture, exchanges)
  asker.close()
  return { exchanges, events }
}

async function causeRegistrationErrors({ ask, chainId, best, other }: Run): Promise<void> {
  const path = { chainId }
  const { endpointUrl } = best
  const sign = (account = registered, terms = {}) => signedRegistration(account, { endpointUrl, ...terms })
  const body = await sign(registered, { name: 'Aldous' })

  await ask(REGISTER, { path, body: { ...body, address: '0x12', name: '' } })
  await ask(REGISTER, { path, body: '{' })
  await ask(REGISTER, { path, body: TOO_LONG })
  await ask(REGISTER, { path: { chainId: UNKNOWN_CHAIN }, body })
  await ask(REGISTER, { path: { chainId: DEAD_CHAIN }, body: await sign() })
  await ask(REGISTER, { path, body: { ...body, endpointUrl: `${endpointUrl}/other` } })
  await ask(REGISTER, { path, body: await sign(registered, { timestamp: Date.now() - 301_000 }) })
  await ask(REGISTER, { path, body: await sign(registered, { endpointUrl: 'https://10.0.0.1' }) })
  await ask(REGISTER, { path, body: await sign(unbonded) })
  await ask(REGISTER, { path, body })
  await ask(REGISTER, { path, body })
  await ask(REGISTER, { path, body: await sign(second, { endpointUrl: other.endpointUrl, name: 'Beatrix' }) })
  await ask(REGISTER, { path, body: await sign(bonded) })

  await ask(LIST, { path })
  await ask(LIST, { path, headers: BAD_TIMEOUT })
  await ask(LIST, { path: { chainId: UNKNOWN_CHAIN } })
  await ask(STATS, { path })
  await ask(STATS, { path, query: '?window=1d' })
  await ask(STATS, { path: { chainId: UNKNOWN_CHAIN } })
  const own = { ...path, address: registered.address }
  await ask(SOLVER_STATS, { path: own })
  await ask(SOLVER_STATS, { path: own, query: '?window=1d' })
  await ask(SOLVER_STATS, { path: { ...path, address: `0x${'99'.repeat(20)}` } })
  await ask(SOLVER_STATS, { path: { ...own, chainId: UNKNOWN_CHAIN } })
  await ask(CHAINS)
  await ask(CHAINS, { headers: BAD_TIMEOUT })
}

/** The order of an answered quote, for the actions of its life. */
function toOrder({ quote, solverSignature, orderId, depositAddress }: QuoteAnswer): Order {
  const [inputAmount, outputAmount] = [BigInt(quote.inputAmount), BigInt(quote.outputAmount)]
  return {
    user: user.address,
    solver: registered,
    inputAmount,
    outputAmount,
    fillDeadline: quote.fillDeadline,
    orderId,
    depositAddress,
    signature: solverSignature,
    quote: { ...quote, inputAmount, outputAmount, orderType: 'EXACT_INPUT', nonce: BigInt(quote.nonce) },
  }
}

async function causeEventErrors(run: Run, order: Order): Promise<readonly { type: string }[]> {
  const { ask, keep, service, traffic } = run
  const { actions } = traffic
  const watch = webSocket.open(service.url, { health: true })
  await watch.until(({ type }) => type === 'Health')
  const start = watch.cursor()

  await ask(EVENTS)
  const late = traffic.order((await traffic.head()).timestamp - 1)
  await traffic.mine([actions.deposit(order)])
  await traffic.mine([actions.refundAddressDeposit(late)])
  await traffic.mine([actions.fill(order)])
  await watch.take(3)
  await traffic.reorganise(1, [[actions.fill(order)]])
  await watch.take(5)
  watch.leave()
  await untilNobodyStreams(service)

  keep(EVENTS, await streamUntil(`${service.url}/v1/events?after=${start}`, 'Settled'))
  await untilNobodyStreams(service)
  await ask(EVENTS, { query: '?user=nobody' })
  await ask(EVENTS, { query: '?after=nowhere' })
  await ask(EVENTS, { query: `?chainId=${UNKNOWN_CHAIN}` })
  await ask(SOCKET)
  keep(SOCKET, await handshake(service.url, 'dGhlIHNhbXBsZSBub25jZQ=='))
  keep(SOCKET, await handshake(service.url, 'short'))
  return watch.messages
}

async function causeOrderErrors({ ask, chainId }: Run, orderId: string): Promise<void> {
  await ask(ORDER, { path: { chainId, orderId } })
  await ask(ORDER, { path: { chainId, orderId: UNKNOWN_ORDER } })
  await ask(ORDER, { path: { chainId, orderId: '0x12' } })
  await ask(ORDER, { path: { chainId: UNKNOWN_CHAIN, orderId } })
  await ask(ORDER, { path: { chainId: DEAD_CHAIN, orderId } })
  await ask(ORDERS, { path: { chainId } })
  await ask(ORDERS, { path: { chainId }, query: '?user=nobody&state=NONE' })
  await ask(ORDERS, { path: { chainId: UNKNOWN_CHAIN } })
}

async function causeTokenErrors({ ask, chainId, service }: Run): Promise<void> {
  const path = { chainId }
  await eventually(
    () => service.get(`/v1/${chainId}/tokens`),
    ({ body }) => body.tokens.length > 1 && body.tokens.every((token: object) => 'symbol' in token),
  )
  for (const of of [TOKENS, PAIRS]) {
    await ask(of, { path })
    await ask(of, { path, headers: BAD_TIMEOUT })
    await ask(of, { path: { chainId: UNKNOWN_CHAIN } })
  }
}

async function causeResultErrors({ ask, chainId }: Run): Promise<void> {
  const path = { chainId, address: registered.address }
  const body = { ...(await signOwnResults(registered, PUBLIC_URL)), pageSize: 2 }
  await ask(RESULTS, { path, body })
  await ask(RESULTS, { path, body: { ...body, audience: 'quotes.example', pageToken: 'x' } })
  await ask(RESULTS, { path, body: TOO_LONG })
  await ask(RESULTS, { path: { ...path, chainId: UNKNOWN_CHAIN }, body })
  await ask(RESULTS, { path: { ...path, address: bonded.address }, body })
  const old = await signOwnResults(registered, PUBLIC_URL, { timestamp: Date.now() - 301_000 })
  await ask(RESULTS, { path, body: old })
  await ask(RESULTS, { path, body: await signOwnResults(registered, 'https://other.example') })
}

async function causeUnregistrationErrors({ ask, chainId }: Run): Promise<void> {
  const path = { chainId, address: registered.address }
  const body = await signedUnregistration(registered)
  await ask(UNREGISTER, { path, body: { ...body, signature: '0x12' } })
  await ask(UNREGISTER, { path, body: TOO_LONG })
  await ask(UNREGISTER, { path: { ...path, chainId: UNKNOWN_CHAIN }, body })
  await ask(UNREGISTER, { path: { ...path, address: bonded.address }, body })
  await ask(UNREGISTER, { path, body: await signedUnregistration(registered, Date.now() - 301_000) })
  const other = { ...path, address: bonded.address }
  await ask(UNREGISTER, { path: other, body: await signedUnregistration(bonded, nextTimestamp()) })
  await ask(UNREGISTER, { path, body })
  await ask(UNREGISTER, { path, body })
}

async function causeRejections({ ask, chainId }: Run): Promise<void> {
  await ask('GET /nowhere')
  const path = { chainId, address: registered.address, orderId: UNKNOWN_ORDER, quoteId: UNKNOWN_QUOTE }
  for (const of of [
    QUOTE,
    PRICE,
    CHECK,
    STREAM,
    RECORD,
    REGISTER,
    LIST,
    STATS,
    SOLVER_STATS,
    RESULTS,
    ORDER,
    ORDERS,
    EVENTS,
    SOCKET,
    CHAINS,
    TOKENS,
    PAIRS,
  ]) {
    await ask(of.replace(/^\w+/, 'PUT'), { path })
  }
  await ask('GET /health')
  await ask(READY)
  await ask('GET /metrics')
}

async function causeFailures({ ask, chain, chainId, best }: Run): Promise<void> {
  const { endpointUrl } = best
  await ask(QUOTE, { path: { chainId }, body: quoteRequest(chain) })
  await ask(REGISTER, { path: { chainId }, body: await signedRegistration(registered, { endpointUrl }) })
  const path = { chainId, address: registered.address }
  await ask(UNREGISTER, { path, body: await signedUnregistration(registered) })
  await ask('GET /health')
}
