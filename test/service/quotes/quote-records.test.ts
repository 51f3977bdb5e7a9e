import { type ConnectError, createClient } from '@connectrpc/connect'
import { createGrpcTransport } from '@connectrpc/connect-node'
import { describe, expect, it, onTestFinished } from 'vitest'
import { QuoteService } from '../../../gen/aggregator/v1/quote_pb.js'
import { ErrorInfoSchema } from '../../../gen/google/rpc/error_details_pb.js'
import { between } from '../../support/between.js'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import {
  type Behaviour,
  honest,
  register,
  startSolver,
  type TestSolver,
} from '../../support/solvers/solver.js'

const [best, second, third] = solverAccounts

const chain = await shared(startModelChain({ bonded: 3 }))
const path = `/v1/${chain.chainId}/quote`
const service = await shared(startService(chain))
const solvers = await Promise.all(
  [best, second, third].map((account, index) =>
    shared(startSolver(chain, account, honest({ output: String(3000 - 1000 * index) }))),
  ),
)
for (const solver of solvers) await solver.register(service)

const ask = (changes = {}) => service.post(path, { ...quoteRequest(chain), ...changes })
const readRecord = (quoteId: string) => service.get(`${path}/${quoteId}`)

describe('the record of a quote', () => {
  it('shows the request, the asked solvers and the ranking of the offers', async () => {
    const before = Date.now()
    const { body } = await ask()
    const { status, body: record } = await readRecord(body.quoteId)
    expect(status).toBe(200)
    expect(record).toMatchObject({ quoteId: body.quoteId, chainId: chain.chainId, outcome: 'QUOTED' })
    const elapsedMs = Date.now() - before
    expect(record.requestedAt).toEqual(between(before, before + elapsedMs))
    expect(record.durationMs).toEqual(between(0, elapsedMs))
    const { depositDeadline, fillDeadline } = body.quote
    const { originChainId, ...asked } = quoteRequest(chain)
    expect(record.request).toEqual({ ...asked, depositDeadline, fillDeadline })
    const amount = asked.amount
    expect(record.solvers).toEqual([
      offer(best.address, 1, amount, '3000', 'The best offer: it is the one that the caller got first.'),
      offer(second.address, 2, amount, '2000', expect.stringContaining('1000 of the output token')),
      offer(third.address, 3, amount, '1000', expect.stringContaining('2000 of the output token')),
    ])
  })
})

describe('the record shows a solver why it gave no offer', () => {
  it('after a decline, and an invalid reply with its amounts as they were written', async () => {
    const [refusing, other, wrong] = solvers as [TestSolver, TestSolver, TestSolver]
    const decline: Behaviour = async (_asked, _solver, { response }) => void response.writeHead(422).end()
    refusing.behave(decline)
    other.behave(decline)
    wrong.behave(async (asked, { quoteFor, sign }) =>
      sign({ ...quoteFor(asked), inputAmount: '7', outputAmount: '31337' }),
    )
    const start = performance.now()
    const { status, body } = await ask()
    const durationMs = between(0, performance.now() - start)
    expect([status, body.code]).toEqual([503, 'NO_QUOTES'])
    const { body: record } = await readRecord(body.quoteId)
    expect(record).toMatchObject({ outcome: 'NO_QUOTES', durationMs })
    expect(record.solvers).toHaveLength(3)
    expect(record.solvers).toContainEqual({
      solver: best.address,
      outcome: 'DECLINED',
      durationMs,
      httpStatus: 422,
      explanation: expect.stringContaining('status 422'),
    })
    expect(record.solvers).toContainEqual({
      solver: third.address,
      outcome: 'INVALID',
      durationMs,
      inputAmount: '7',
      outputAmount: '31337',
      reason: 'fixed_amount_mismatch',
      explanation: expect.stringContaining('"1000000000000000000"'),
    })
  })

  it('over gRPC too, where the error names the record', async () => {
    const client = createClient(QuoteService, createGrpcTransport({ baseUrl: service.url }))
    for (const solver of solvers)
      solver.behave(async (_asked, _solver, { response }) => void response.writeHead(404).end())
    const request = { chainId: BigInt(chain.chainId), originChainId: BigInt(chain.chainId) }
    const { inputToken, outputToken, amount } = quoteRequest(chain)
    const error: ConnectError = await client
      .getQuote({
        ...request,
        inputToken,
        outputToken,
        amount,
        orderType: 1,
        depositMode: 1,
        userAddress: user.address,
        destinationChainId: BigInt(chain.chainId),
      })
      .then(() => Promise.reject(new Error('answered')))
      .catch((thrown) => thrown)
    const [info] = error.findDetails(ErrorInfoSchema)
    const quoteId = info?.metadata.quoteId ?? ''
    const record = await client.getQuoteRecord({ chainId: request.chainId, quoteId })
    expect(record.solvers.map(({ httpStatus }) => httpStatus)).toEqual([404, 404, 404])
  })

  it.each([
    ['connection_refused', 'http://127.0.0.1:1', 'Nothing listens'],
    ['name_not_resolved', 'http://solver.invalid', 'does not resolve'],
    ['tls_failed', () => solvers[0]?.endpointUrl.replace('http:', 'https:') ?? '', 'TLS'],
  ] as const)("after %s, without the endpoint's address", async (reason, endpoint, words) => {
    const endpointUrl = typeof endpoint === 'string' ? endpoint : endpoint()
    await register(service, chain.chainId, third, { endpointUrl })
    const { body } = await ask({ amount: '55' })
    const { body: record } = await readRecord(body.quoteId)
    expect(record.solvers).toContainEqual({
      solver: third.address,
      outcome: 'FAILED',
      durationMs: between(0, record.durationMs),
      reason,
      explanation: expect.stringContaining(words),
    })
    expect(JSON.stringify(record)).not.toContain(new URL(endpointUrl).host)
    await solvers[2]?.register(service)
  })
})

function offer(solver: string, rank: number, inputAmount: string, outputAmount: string, explanation: string) {
  const durationMs = expect.any(Number)
  return { solver, outcome: 'QUOTED', rank, durationMs, inputAmount, outputAmount, explanation }
}

it('an instance that keeps no records says so', async () => {
  const without = await startService(chain, { QUOTE_RECORD_HOURS: '0' })
  onTestFinished(() => without.close())
  const { quoteId } = (await without.post(path, quoteRequest(chain))).body
  const { status, body } = await without.get(`${path}/${quoteId}`)
  expect([status, body.code, body.error]).toEqual([
    404,
    'QUOTE_NOT_FOUND',
    'This instance keeps no records of quotes (QUOTE_RECORD_HOURS is 0).',
  ])
})
