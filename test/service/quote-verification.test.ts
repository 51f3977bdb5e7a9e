import { create } from '@bufbuild/protobuf'
import { createClient, type Transport } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'
import { toFunctionSelector } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  DepositMode,
  GetQuoteRequestSchema,
  OrderType,
  QuoteService,
  VerifyMode,
} from '../../gen/aggregator/v1/quote_pb.js'
import { settlementAbi } from '../../gen/contracts/settlement.js'
import { solverAccounts, startChain, type TestChain } from '../support/chain/chain.js'
import { createCalls } from '../support/chain/contract-calls.js'
import { deferred } from '../support/deferred.js'
import type { RpcRequest } from '../support/faults/chain-view.js'
import { type Interceptor, type RpcProxy, startRpcProxy } from '../support/faults/rpc-proxy.js'
import { startService, type TestService } from '../support/service/service.js'
import { quoteRequest } from '../support/solvers/quote-request.js'
import { type Behaviour, honest, startSolver, type TestSolver } from '../support/solvers/solver.js'
import {
  errorOf,
  type QuoteMessage,
  quoteTransports,
  readAll,
} from '../support/streams/quote-stream-clients.js'

const selectorOf = (name: string) =>
  toFunctionSelector(settlementAbi.find((item) => item.type === 'function' && item.name === name) as never)
const [IS_NONCE_USED, DEPOSIT] = [selectorOf('isNonceUsed'), selectorOf('deposit')]

const CANCELLED_NONCE = 10n ** 30n
const OUTPUTS = ['3000', '2000', '1000']
/** Offers that only the contract knows to be worthless: the node hides that their nonce is used. */
const withCancelledNonce =
  (outputAmount: string): Behaviour =>
  async (ask, { quoteFor, sign }) =>
    sign({ ...quoteFor(ask), outputAmount, nonce: String(CANCELLED_NONCE) })

let chain: TestChain
let rpc: RpcProxy
let service: TestService
let solvers: TestSolver[]

beforeAll(async () => {
  chain = await startChain({ bonded: 3 })
  const calls = createCalls(chain.devnet, chain.contracts.settlement)
  for (const account of solverAccounts.slice(0, 3))
    await calls.send(account, 'cancelNonce', [CANCELLED_NONCE])
  rpc = await startRpcProxy(chain.devnet.rpcUrl)
  service = await startVerifying({ VERIFY_TIMEOUT_MS: '60000' })
  solvers = await Promise.all(solverAccounts.slice(0, 3).map((account) => startSolver(chain, account)))
  for (const solver of solvers) await solver.register(service)
})

afterAll(async () => {
  await service?.close()
  await Promise.all((solvers ?? []).map((solver) => solver.close()))
  rpc?.close()
  await chain?.stop()
})

beforeEach(() => {
  behave()
  rpc.intercept(hideUsedNonces)
  rpc.forgetCalls()
})

function startVerifying(environment: Record<string, string> = {}): Promise<TestService> {
  const rpcVariable = { [`RPC_URL_${chain.chainId}`]: rpc.url }
  return startService(chain, { VERIFY_MAX: 'all', ...rpcVariable, ...environment })
}

/** The first solvers send offers that the contract refuses. */
function behave({ refused = 0 } = {}): void {
  for (const [index, solver] of solvers.entries()) {
    const output = OUTPUTS[index] ?? ''
    solver.behave(index < refused ? withCancelledNonce(output) : honest({ output }))
  }
}

function calls({ method, params = [] }: RpcRequest, selector: string): boolean {
  const [transaction] = params as { data?: string }[]
  return method === 'eth_call' && transaction?.data?.startsWith(selector) === true
}

const hideUsedNonces: Interceptor = async (call, pass) =>
  calls(call, IS_NONCE_USED) ? { result: `0x${'00'.repeat(32)}` } : pass()

const depositCalls = () =>
  rpc
    .requests()
    .flat()
    .filter((call) => calls(call, DEPOSIT)).length

const path = () => `/v1/${chain.chainId}/quote`
const ask = (changes: object, at = service) => at.post(path(), { ...quoteRequest(chain), ...changes })

/** The outputs of a response with the marks, best first. */
// biome-ignore lint/suspicious/noExplicitAny: the response is of any of the protocols
function marks(response: any): [string, boolean | undefined][] {
  return [response, ...response.alternativeQuotes].map(({ quote, verified }) => [
    quote.outputAmount,
    verified,
  ])
}

type Mode = 'off' | 'best' | 'all'

function overRpc(transportTo: (baseUrl: string) => Transport) {
  return (verify: Mode) => {
    const request = create(GetQuoteRequestSchema, {
      ...quoteRequest(chain),
      chainId: BigInt(chain.chainId),
      originChainId: BigInt(chain.chainId),
      destinationChainId: BigInt(chain.chainId),
      orderType: OrderType.EXACT_INPUT,
      depositMode: DepositMode.CONTRACT,
      verify: VerifyMode[verify.toUpperCase() as 'BEST'],
    })
    return createClient(QuoteService, transportTo(service.url)).getQuote(request)
  }
}

const protocols: [string, (verify: Mode) => Promise<unknown>][] = [
  ['REST', async (verify) => (await ask({ verify })).body],
  ['gRPC', overRpc((baseUrl) => createGrpcTransport({ baseUrl }))],
  ['gRPC-Web', overRpc((baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '1.1' }))],
  ['Connect', overRpc((baseUrl) => createConnectTransport({ baseUrl, httpVersion: '1.1' }))],
]

describe.each(protocols)('a quote over %s', (_name, getQuote) => {
  it.each<[Mode, (boolean | undefined)[]]>([
    ['off', [undefined, undefined, undefined]],
    ['best', [true, undefined, undefined]],
    ['all', [true, true, true]],
  ])('with verify %s has these marks', async (verify, expected) => {
    expect(marks(await getQuote(verify))).toEqual(expected.map((mark, index) => [OUTPUTS[index], mark]))
  })

  it('has no offer that the contract refuses, and verifies the next one', async () => {
    behave({ refused: 1 })
    expect(marks(await getQuote('off'))[0]).toEqual(['3000', undefined])
    expect(marks(await getQuote('best'))).toEqual([
      ['2000', true],
      ['1000', undefined],
    ])
    behave({ refused: 2 })
    expect(marks(await getQuote('best'))).toEqual([['1000', true]])
    expect(marks(await getQuote('all'))).toEqual([['1000', true]])
  })
})

describe.each(quoteTransports)('a stream over $name', ({ open }) => {
  const stream = (verify: Mode) => open(service.url, chain.chainId, { ...quoteRequest(chain), verify })

  it.each<[Mode, number]>([
    ['best', 0],
    ['best', 1],
    ['all', 0],
    ['all', 2],
  ])(
    'with verify %s and %i refused offers has in its last messages what GetQuote returns',
    async (verify, refused) => {
      behave({ refused })
      const messages = await readAll(stream(verify))
      const last = messages.findLast(({ type }) => type === 'quote')
      const { body } = await ask({ verify })
      const done: Partial<QuoteMessage> = messages.at(-1) ?? {}
      expect(marks({ ...last, alternativeQuotes: done.alternativeQuotes })).toEqual(marks(body))
      expect(last).toMatchObject({ verified: true, orderId: done.bestOrderId })
      expect(done).toMatchObject({ type: 'done', asked: 3, quoted: 3 - refused, invalid: refused })
    },
  )

  it('sends the next offer when the contract refuses the best one', async () => {
    behave({ refused: 1 })
    const release = holdDeposits()
    const messages = stream('best')[Symbol.asyncIterator]()
    const seen = []
    do seen.push((await messages.next()).value)
    while (seen.at(-1)?.quote.outputAmount !== '3000')
    release()
    expect(seen.at(-1)).not.toHaveProperty('verified')
    for await (const message of { [Symbol.asyncIterator]: () => messages }) seen.push(message)
    const [next, done] = seen.slice(-2)
    expect(next).toMatchObject({
      type: 'quote',
      quote: { outputAmount: '2000' },
      answered: 3,
      verified: true,
    })
    expect(done).toMatchObject({ type: 'done', bestOrderId: next?.orderId })
  })

  it('ends with NO_QUOTES when the contract refuses all offers', async () => {
    behave({ refused: 3 })
    const { reason, quoteId } = await errorOf(stream('best'))
    expect(reason).toBe('NO_QUOTES')
    expect((await service.get(`${path()}/${quoteId}`)).body.outcome).toBe('NO_QUOTES')
  })
})

it('a quote whose offers the contract refuses is NO_QUOTES', async () => {
  behave({ refused: 3 })
  expect(await ask({ verify: 'all' })).toMatchObject({ status: 503, body: { code: 'NO_QUOTES' } })
})

it('the record has the marks, and the errors as reasons', async () => {
  behave({ refused: 1 })
  const { quoteId } = (await ask({ verify: 'best' })).body
  const record = (await service.get(`${path()}/${quoteId}`)).body
  expect(record.bestAmount).toBe('2000')
  expect(record.solvers).toMatchObject([
    { outcome: 'QUOTED', rank: 1, verified: true },
    { outcome: 'QUOTED', rank: 2 },
    { outcome: 'INVALID', reason: 'NonceAlreadyUsed', outputAmount: '3000' },
  ])
  expect(record.solvers.map((solver: object) => 'verified' in solver)).toEqual([true, false, false])
  expect(record.solvers[2].explanation).toContain('refused the offer with the error NonceAlreadyUsed')
})

it('a dropped offer counts as an offer of its solver', async () => {
  behave({ refused: 1 })
  const solver = solvers[0]?.account.address.toLowerCase() ?? ''
  const read = async () => ({
    quoted: await service.metric('aggregator_solver_outcomes_total', { solver, outcome: 'quoted' }),
    all: await service.metric('aggregator_solver_outcomes_total', { solver }),
    replies: await service.metric('aggregator_solver_replies_total', { outcome: 'quoted' }),
    invalid: await service.metric('aggregator_solver_replies_total', { outcome: 'invalid' }),
    open: await service.metric('aggregator_solver_circuit_open', { solver }),
    ratio: await service.metric('aggregator_solver_valid_ratio', { solver }),
  })
  const before = await read()
  expect(before).toMatchObject({ open: 0, ratio: 1 })
  for (let round = 0; round < 10; round++) await ask({ verify: 'best' })
  expect(await read()).toEqual({
    ...before,
    quoted: before.quoted + 10,
    all: before.all + 10,
    replies: before.replies + 30,
  })
})

it('a price is never verified', async () => {
  const verifying = await startVerifying({ VERIFY_QUOTES: 'all' })
  for (const solver of solvers) await solver.register(verifying)
  const { inputToken, outputToken, orderType, amount } = quoteRequest(chain)
  const price = { inputToken, outputToken, orderType, amount }
  expect((await verifying.post(`/v1/${chain.chainId}/price`, price)).body.offers).toBe(3)
  expect(depositCalls()).toBe(0)
  expect(marks((await ask({}, verifying)).body).map(([, mark]) => mark)).toEqual([true, true, true])
  expect(marks((await ask({ verify: 'off' }, verifying)).body).map(([, mark]) => mark)).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  await verifying.close()
})

it('offers stay without marks when the node does not answer in time', async () => {
  const hasty = await startVerifying({ VERIFY_TIMEOUT_MS: '20' })
  for (const solver of solvers) await solver.register(hasty)
  const release = holdDeposits()
  for (const verify of ['best', 'all']) {
    const { body } = await ask({ verify }, hasty)
    expect(marks(body).map(([, mark]) => mark)).toEqual([undefined, undefined, undefined])
  }
  release()
  await hasty.close()
})

it.each([
  ['best', 'all', 'must be off or best'],
  ['off', 'best', 'must be off'],
])('at most VERIFY_MAX, here %s, is allowed', async (max, verify, message) => {
  const strict = await startVerifying({ VERIFY_MAX: max })
  const violation = { field: 'verify', message }
  expect(await ask({ verify }, strict)).toMatchObject({ status: 400, body: { details: [violation] } })
  const [sse] = quoteTransports
  const stream = sse?.open(strict.url, chain.chainId, { ...quoteRequest(chain), verify })
  expect(stream && (await errorOf(stream))).toMatchObject({ status: 400, fields: ['verify'] })
  await strict.close()
})

it.each(['BEST', 'none', '', 1])('verify %j is refused', async (verify) => {
  const violation = { field: 'verify', message: 'must be off or best or all' }
  expect(await ask({ verify })).toMatchObject({ status: 400, body: { details: [violation] } })
})

/** Holds all verifications. @returns a function that lets them pass */
function holdDeposits(): () => void {
  const gate = deferred()
  rpc.intercept(async (call, ...chainCalls) => {
    if (calls(call, DEPOSIT)) await gate.opened
    return hideUsedNonces(call, ...chainCalls)
  })
  return gate.open
}
