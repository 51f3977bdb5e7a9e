import { solverAccounts, user } from '../chain/chain.js'
import { deferred } from '../deferred.js'
import { eventually } from '../eventually.js'
import { signOwnResults } from '../solvers/own-results.js'
import { quoteRequest } from '../solvers/quote-request.js'
import { nextTimestamp, signedRegistration, signedUnregistration } from '../solvers/solver.js'
import { webSocket } from '../streams/transports.js'
import { type Ask, createAsker } from './exchanges.js'
import { OFFERS, type OpenApiFixture, PUBLIC_URL, UNKNOWN_CHAIN } from './fixture.js'
import { causeRefusals, UNKNOWN_ORDER, UNKNOWN_QUOTE } from './refusals.js'

const [registered, second, bonded] = solverAccounts
const unbonded = solverAccounts[5]
const OLD = () => Date.now() - 301_000

type Run = OpenApiFixture & { readonly ask: Ask }

/** Makes each operation give every response that it can give. @returns them, and a message of the stream of each kind */
export async function causeAnswers(fixture: OpenApiFixture) {
  const { chainId } = fixture.chain
  const unknown = { orderId: UNKNOWN_ORDER, quoteId: UNKNOWN_QUOTE }
  const { exchanges, askAt, close } = createAsker({ chainId, address: registered.address, ...unknown })
  const ask = askAt(fixture.service.url)
  const run: Run = { ...fixture, ask }

  await register(run)
  const options = { verify: 'best', includeCalls: true }
  const quoted = (await ask('getQuote', { body: quoteOf(run, options) })).body as Quoted
  await quote(run, quoted)
  await fillStreams(run)
  const refused = await refuseQuotes(run)
  for (const quoteId of [quoted.quoteId, refused.quoteId, UNKNOWN_QUOTE, '12'])
    await ask('getQuoteRecord', { path: { quoteId } })
  const events = await playOrder(run, quoted)
  await untilTokensAreRead(run)
  for (const orderId of [quoted.orderId, UNKNOWN_ORDER, '0x12']) await ask('getOrder', { path: { orderId } })
  for (const query of ['', '?user=nobody&state=NONE']) await ask('listOrders', { query })
  for (const operation of [
    'listTokens',
    'listPairs',
    'getHealth',
    'getReadiness',
    'getMetrics',
    'GET /nowhere',
  ])
    await ask(operation)
  await listResults(run)
  await unregister(run)
  await fixture.withBrokenClock(() => fail(run))
  await causeRefusals(fixture, exchanges, askAt)
  close()
  return { exchanges, events }
}

const quoteOf = ({ chain }: Run, changes: object = {}) => ({ ...quoteRequest(chain), ...changes })
const priceOf = ({ chain }: Run, changes: object = {}) => {
  const { inputToken, outputToken, orderType, amount } = quoteRequest(chain)
  return { inputToken, outputToken, orderType, amount, ...changes }
}

async function register({ ask, best, other }: Run): Promise<void> {
  const { endpointUrl } = best
  const sign = (account = registered, terms = {}) => signedRegistration(account, { endpointUrl, ...terms })
  const body = await sign(registered, { name: 'Aldous' })
  for (const each of [
    { ...body, address: '0x12', name: '' },
    { ...body, endpointUrl: `${endpointUrl}/other` },
    await sign(registered, { timestamp: OLD() }),
    await sign(registered, { endpointUrl: 'https://10.0.0.1' }),
    await sign(unbonded),
    body,
    body,
    await sign(second, { endpointUrl: other.endpointUrl, name: 'Beatrix' }),
    await sign(bonded),
  ])
    await ask('registerSolver', { body: each })
  await ask('listSolvers')
  for (const operation of ['listSolverStats', 'getSolverStats'])
    for (const query of ['', '?window=1d']) await ask(operation, { query })
  await ask('getSolverStats', { path: { address: `0x${'99'.repeat(20)}` } })
  await ask('listChains')
}

/** The response to a quote request, as far as later requests need it. */
// biome-ignore lint/suspicious/noExplicitAny: a response of many shapes
type Quoted = Readonly<Record<'quoteId' | 'orderId' | 'solverSignature' | 'depositAddress' | 'quote', any>>

async function quote(run: Run, { quote, solverSignature }: Quoted): Promise<void> {
  const { ask } = run
  await ask('getQuote', { body: quoteOf(run, { amount: '-1', depositMode: 'CASH' }) })
  const unpaired = { amount: '-1', outputToken: priceOf(run).inputToken }
  for (const changes of [{}, unpaired]) await ask('getPrice', { body: priceOf(run, changes) })
  await ask('checkOffer', { body: { quote, solverSignature } })
  await ask('checkOffer', { body: { quote: { ...quote, nonce: '-1' }, solverSignature: '0x' } })
  for (const changes of [{}, { refreshSeconds: 1 }])
    await ask('streamQuotes', { body: quoteOf(run, changes) })
}

/** Asks for a stream while another one has the only place. */
async function fillStreams(run: Run): Promise<void> {
  const leaving = new AbortController()
  await fetch(`${run.service.url}/v1/events`, { signal: leaving.signal })
  await run.ask('streamQuotes', { body: quoteOf(run) })
  leaving.abort()
  await untilNobodyStreams(run)
}

/** The one stream place is free again some time after its client has left. */
function untilNobodyStreams({ service }: Run): Promise<number> {
  return eventually(
    () => service.metric('aggregator_stream_clients', {}),
    (clients) => clients === 0,
  )
}

/** Asks solvers that make no offer, and such that have no place for a third request. @returns the first response */
async function refuseQuotes(run: Run): Promise<Quoted> {
  const { ask, best, other, service, chain } = run
  best.behave(async (asked, { quoteFor, sign }) => sign({ ...quoteFor(asked), inputAmount: '1' }))
  other.behave(async (_asked, _solver, { response }) => void response.writeHead(422).end())
  const { body } = await ask('getQuote', { body: quoteOf(run) })
  await ask('getPrice', { body: priceOf(run, { amount: '7' }) })

  const { opened, open } = deferred()
  for (const solver of [best, other])
    solver.behave(async (_asked, _solver, { response }) => {
      await opened
      return void response.writeHead(422).end()
    })
  const waiting = [1, 2].map(() => service.post(`/v1/${chain.chainId}/quote`, quoteOf(run)))
  const countWaiting = () => service.metric('aggregator_solver_requests_queued', {})
  await eventually(countWaiting, (count) => count === 2)
  await ask('getQuote', { body: quoteOf(run) })
  await ask('getPrice', { body: priceOf(run, { amount: '8' }) })
  open()
  await Promise.all(waiting)
  best.behave(OFFERS.best)
  other.behave(OFFERS.other)
  return body as Quoted
}

const UPGRADE = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }

/** Plays the order of a quote, one of an address and a reorganisation, and asks for their events. @returns the messages of the stream */
async function playOrder(run: Run, { quote, solverSignature: signature, orderId, depositAddress }: Quoted) {
  const { ask, service, traffic } = run
  const { actions } = traffic
  const [inputAmount, outputAmount] = [BigInt(quote.inputAmount), BigInt(quote.outputAmount)]
  const { fillDeadline, nonce } = quote
  const order = {
    ...{ user: user.address, solver: registered, inputAmount, outputAmount, fillDeadline },
    ...{ orderId, depositAddress, signature },
    quote: { ...quote, inputAmount, outputAmount, orderType: 'EXACT_INPUT', nonce: BigInt(nonce) },
  }
  const watch = webSocket.open(service.url, { health: true })
  await watch.until(({ type }) => type === 'Health')
  const start = watch.cursor()

  await ask('streamEventsAsServerSentEvents')
  const late = traffic.order((await traffic.head()).timestamp - 1)
  await traffic.mine([actions.deposit(order)])
  await traffic.mine([actions.refundAddressDeposit(late)])
  await traffic.mine([actions.fill(order)])
  await watch.take(3)
  await traffic.reorganise(1, [[actions.fill(order)]])
  await watch.take(5)
  watch.leave()
  await untilNobodyStreams(run)

  await ask('streamEventsAsServerSentEvents', { query: `?after=${start}`, until: 'Settled' })
  await untilNobodyStreams(run)
  for (const query of ['?user=nobody', '?after=nowhere', `?chainId=${UNKNOWN_CHAIN}`])
    await ask('streamEventsAsServerSentEvents', { query })
  await ask('streamEventsOnWebSocket')
  for (const key of ['dGhlIHNhbXBsZSBub25jZQ==', 'short'])
    await ask('streamEventsOnWebSocket', { headers: { ...UPGRADE, 'sec-websocket-key': key } })
  return watch.messages
}

async function untilTokensAreRead({ service, chain }: Run): Promise<void> {
  await eventually(
    () => service.get(`/v1/${chain.chainId}/tokens`),
    ({ body }) => body.tokens.length > 1 && body.tokens.every((token: object) => 'symbol' in token),
  )
}

async function listResults({ ask }: Run): Promise<void> {
  const body = { ...(await signOwnResults(registered, PUBLIC_URL)), pageSize: 2 }
  for (const each of [
    body,
    { ...body, audience: 'quotes.example', pageToken: 'x' },
    await signOwnResults(registered, PUBLIC_URL, { timestamp: OLD() }),
    await signOwnResults(registered, 'https://other.example'),
  ])
    await ask('listOwnResults', { body: each })
  await ask('listOwnResults', { path: { address: bonded.address }, body })
}

async function unregister({ ask }: Run): Promise<void> {
  const foreign = { address: bonded.address }
  const body = await signedUnregistration(registered)
  await ask('unregisterSolver', { body: { ...body, signature: '0x12' } })
  await ask('unregisterSolver', { path: foreign, body })
  await ask('unregisterSolver', { body: await signedUnregistration(registered, OLD()) })
  await ask('unregisterSolver', { path: foreign, body: await signedUnregistration(bonded, nextTimestamp()) })
  for (const _ of ['removed', 'removed already']) await ask('unregisterSolver', { body })
}

/** Asks a service that fails. */
async function fail(run: Run): Promise<void> {
  await run.ask('getQuote', { body: quoteOf(run) })
  await run.ask('registerSolver', { body: await signedRegistration(registered, run.best) })
  await run.ask('unregisterSolver', { body: await signedUnregistration(registered) })
  await run.ask('getHealth')
}
