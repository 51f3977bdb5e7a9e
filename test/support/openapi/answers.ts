import { solverAccounts, user } from '../chain/chain.js'
import { deferred } from '../deferred.js'
import { eventually } from '../eventually.js'
import { signOwnResults } from '../solvers/own-results.js'
import { quoteRequest } from '../solvers/quote-request.js'
import { nextTimestamp, signedRegistration, signedUnregistration } from '../solvers/solver.js'
import { webSocket } from '../streams/transports.js'
import { type Asker, createAsker, type Exchange, type RequestOptions } from './exchanges.js'
import { DEAD_CHAIN, OFFERS, type OpenApiFixture, PUBLIC_URL, UNKNOWN_CHAIN } from './fixture.js'
import { HEALTH, METRICS, OF, READY } from './operations.js'
import { causeRefusals, UNKNOWN_ORDER, UNKNOWN_QUOTE } from './refusals.js'
import { handshake, streamUntil } from './streams.js'

const [registered, second, bonded] = solverAccounts
const unbonded = solverAccounts[5]
const OLD = () => Date.now() - 301_000

/** A request by the document's name of its operation. */
type Row = readonly [of: string, options?: RequestOptions]

/** What makes responses. */
type Run = OpenApiFixture & Pick<Asker, 'ask' | 'keep'> & { readonly path: { readonly chainId: number } }

/** Makes each operation give every response that it can give. @returns them, and a message of the stream of each kind */
export async function causeAnswers(fixture: OpenApiFixture) {
  const exchanges: Exchange[] = []
  const { ask, keep, close } = createAsker(fixture.service.url, exchanges)
  const run: Run = { ...fixture, ask, keep, path: { chainId: fixture.chain.chainId } }
  const askAll = async (rows: readonly Row[]) => {
    for (const [of, options] of rows) await ask(of, options)
  }

  await askAll(await registrations(run))
  const quoted = (
    await ask(OF.quote, { path: run.path, body: quoteOf(run, { verify: 'best', includeCalls: true }) })
  ).body as Quoted
  await askAll(quotes(run, quoted))
  await fillStreams(run)
  const refused = await refuseQuotes(run)
  await askAll(records(run, [quoted.quoteId, refused.quoteId]))
  const events = await playOrder(run, quoted)
  await untilTokensAreRead(run)
  await askAll(orders(run, quoted.orderId))
  await askAll(await results(run))
  await askAll(await unregistrations(run))
  await fixture.withBrokenClock(async () => askAll(await failures(run)))
  await causeRefusals(fixture, exchanges)
  close()
  return { exchanges, events }
}

const quoteOf = ({ chain }: Run, changes: object = {}) => ({ ...quoteRequest(chain), ...changes })
const priceOf = ({ chain }: Run, changes: object = {}) => {
  const { inputToken, outputToken, orderType, amount } = quoteRequest(chain)
  return { inputToken, outputToken, orderType, amount, ...changes }
}

async function registrations({ path, best, other }: Run): Promise<Row[]> {
  const { endpointUrl } = best
  const sign = (account = registered, terms = {}) => signedRegistration(account, { endpointUrl, ...terms })
  const body = await sign(registered, { name: 'Aldous' })
  const own = { ...path, address: registered.address }
  return [
    [OF.register, { path, body: { ...body, address: '0x12', name: '' } }],
    [OF.register, { path: { chainId: DEAD_CHAIN }, body: await sign() }],
    [OF.register, { path, body: { ...body, endpointUrl: `${endpointUrl}/other` } }],
    [OF.register, { path, body: await sign(registered, { timestamp: OLD() }) }],
    [OF.register, { path, body: await sign(registered, { endpointUrl: 'https://10.0.0.1' }) }],
    [OF.register, { path, body: await sign(unbonded) }],
    [OF.register, { path, body }],
    [OF.register, { path, body }],
    [OF.register, { path, body: await sign(second, { endpointUrl: other.endpointUrl, name: 'Beatrix' }) }],
    [OF.register, { path, body: await sign(bonded) }],
    [OF.solvers, { path }],
    [OF.stats, { path }],
    [OF.stats, { path, query: '?window=1d' }],
    [OF.solverStats, { path: own }],
    [OF.solverStats, { path: own, query: '?window=1d' }],
    [OF.solverStats, { path: { ...path, address: `0x${'99'.repeat(20)}` } }],
    [OF.chains],
  ]
}

/** The response to a quote request, as far as later requests need it. */
// biome-ignore lint/suspicious/noExplicitAny: a response of many shapes
type Quoted = Readonly<Record<'quoteId' | 'orderId' | 'solverSignature' | 'depositAddress' | 'quote', any>>

function quotes(run: Run, { quote, solverSignature }: Quoted): Row[] {
  const { path } = run
  const dead = { chainId: DEAD_CHAIN }
  const onDead = { originChainId: DEAD_CHAIN, destinationChainId: DEAD_CHAIN }
  const offer = { quote, solverSignature }
  return [
    [OF.quote, { path, body: quoteOf(run, { amount: '-1', depositMode: 'CASH' }) }],
    [OF.quote, { path, body: '{' }],
    [OF.quote, { path, body: 'a=b', headers: { 'content-type': 'text/plain' } }],
    [OF.quote, { path: dead, body: quoteOf(run, onDead) }],
    [OF.price, { path, body: priceOf(run) }],
    [OF.price, { path, body: priceOf(run, { amount: '-1', outputToken: priceOf(run).inputToken }) }],
    [OF.price, { path: dead, body: priceOf(run) }],
    [OF.check, { path, body: offer }],
    [OF.check, { path, body: { quote: { ...quote, nonce: '-1' }, solverSignature: '0x' } }],
    [OF.check, { path: dead, body: offer }],
    [OF.stream, { path, body: quoteOf(run) }],
    [OF.stream, { path, body: quoteOf(run, { refreshSeconds: 1 }) }],
    [OF.stream, { path: dead, body: quoteOf(run, onDead) }],
  ]
}

/** Asks for a stream while another one has the only place. */
async function fillStreams(run: Run): Promise<void> {
  const leaving = new AbortController()
  await fetch(`${run.service.url}/v1/events`, { signal: leaving.signal })
  await run.ask(OF.stream, { path: run.path, body: quoteOf(run) })
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
  const { ask, path, best, other, service } = run
  best.behave(async (asked, { quoteFor, sign }) => sign({ ...quoteFor(asked), inputAmount: '1' }))
  other.behave(async (_asked, _solver, { response }) => void response.writeHead(422).end())
  const { body } = await ask(OF.quote, { path, body: quoteOf(run) })
  await ask(OF.price, { path, body: priceOf(run, { amount: '7' }) })

  const { opened, open } = deferred()
  for (const solver of [best, other])
    solver.behave(async (_asked, _solver, { response }) => {
      await opened
      return void response.writeHead(422).end()
    })
  const waiting = [1, 2].map(() => service.post(`/v1/${path.chainId}/quote`, quoteOf(run)))
  const countWaiting = () => service.metric('aggregator_solver_requests_queued', {})
  await eventually(countWaiting, (count) => count === 2)
  await ask(OF.quote, { path, body: quoteOf(run) })
  await ask(OF.price, { path, body: priceOf(run, { amount: '8' }) })
  open()
  await Promise.all(waiting)
  best.behave(OFFERS.best)
  other.behave(OFFERS.other)
  return body as Quoted
}

function records({ path }: Run, quoteIds: readonly string[]): Row[] {
  return [...quoteIds, UNKNOWN_QUOTE, '12'].map((quoteId) => [OF.record, { path: { ...path, quoteId } }])
}

/** Plays the order of a quote, one of an address and a reorganisation, and asks for their events. @returns the messages of the stream */
async function playOrder(run: Run, { quote, solverSignature: signature, orderId, depositAddress }: Quoted) {
  const { ask, keep, service, traffic } = run
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

  await ask(OF.events)
  const late = traffic.order((await traffic.head()).timestamp - 1)
  await traffic.mine([actions.deposit(order)])
  await traffic.mine([actions.refundAddressDeposit(late)])
  await traffic.mine([actions.fill(order)])
  await watch.take(3)
  await traffic.reorganise(1, [[actions.fill(order)]])
  await watch.take(5)
  watch.leave()
  await untilNobodyStreams(run)

  keep(OF.events, await streamUntil(`${service.url}/v1/events?after=${start}`, 'Settled'))
  await untilNobodyStreams(run)
  for (const query of ['?user=nobody', '?after=nowhere', `?chainId=${UNKNOWN_CHAIN}`])
    await ask(OF.events, { query })
  await ask(OF.socket)
  for (const key of ['dGhlIHNhbXBsZSBub25jZQ==', 'short']) keep(OF.socket, await handshake(service.url, key))
  return watch.messages
}

async function untilTokensAreRead({ service, path }: Run): Promise<void> {
  await eventually(
    () => service.get(`/v1/${path.chainId}/tokens`),
    ({ body }) => body.tokens.length > 1 && body.tokens.every((token: object) => 'symbol' in token),
  )
}

function orders({ path }: Run, orderId: string): Row[] {
  return [
    [OF.order, { path: { ...path, orderId } }],
    [OF.order, { path: { ...path, orderId: UNKNOWN_ORDER } }],
    [OF.order, { path: { ...path, orderId: '0x12' } }],
    [OF.order, { path: { chainId: DEAD_CHAIN, orderId } }],
    [OF.orders, { path }],
    [OF.orders, { path, query: '?user=nobody&state=NONE' }],
    [OF.tokens, { path }],
    [OF.pairs, { path }],
    [HEALTH],
    [READY],
    [METRICS],
    ['GET /nowhere'],
  ]
}

async function results({ path }: Run): Promise<Row[]> {
  const own = { ...path, address: registered.address }
  const body = { ...(await signOwnResults(registered, PUBLIC_URL)), pageSize: 2 }
  return [
    [OF.results, { path: own, body }],
    [OF.results, { path: own, body: { ...body, audience: 'quotes.example', pageToken: 'x' } }],
    [OF.results, { path: { ...path, address: bonded.address }, body }],
    [OF.results, { path: own, body: await signOwnResults(registered, PUBLIC_URL, { timestamp: OLD() }) }],
    [OF.results, { path: own, body: await signOwnResults(registered, 'https://other.example') }],
  ]
}

async function unregistrations({ path }: Run): Promise<Row[]> {
  const [own, foreign] = [registered, bonded].map(({ address }) => ({ ...path, address }))
  const body = await signedUnregistration(registered)
  return [
    [OF.unregister, { path: own, body: { ...body, signature: '0x12' } }],
    [OF.unregister, { path: foreign, body }],
    [OF.unregister, { path: own, body: await signedUnregistration(registered, OLD()) }],
    [OF.unregister, { path: foreign, body: await signedUnregistration(bonded, nextTimestamp()) }],
    [OF.unregister, { path: own, body }],
    [OF.unregister, { path: own, body }],
  ]
}

/** What a service answers that fails. */
async function failures(run: Run): Promise<Row[]> {
  const { path, best } = run
  const own = { ...path, address: registered.address }
  return [
    [OF.quote, { path, body: quoteOf(run) }],
    [OF.register, { path, body: await signedRegistration(registered, best) }],
    [OF.unregister, { path: own, body: await signedUnregistration(registered) }],
    [HEALTH],
  ]
}
