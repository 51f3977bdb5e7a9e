import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain, user } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { eventually } from '../../support/eventually.js'
import { startService, type TestService } from '../../support/service/service.js'
import { offerFaults, signedOver } from '../../support/solvers/offer-faults.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type Behaviour, honest, startSolver, type TestSolver } from '../../support/solvers/solver.js'

const [honestAccount, badAccount] = solverAccounts

let chain: TestChain
let service: TestService
let good: TestSolver
let bad: TestSolver

beforeAll(async () => {
  chain = await startChain({ bonded: 3 })
  service = await startService(chain, { [`POLL_INTERVAL_MS_${chain.chainId}`]: '50' })
  good = await startSolver(chain, honestAccount, honest({ output: '1000', input: '5000' }))
  bad = await startSolver(chain, badAccount)
  await good.register(service)
  await bad.register(service)
})

afterAll(async () => {
  await service?.close()
  await Promise.all([good?.close(), bad?.close()])
  await chain?.stop()
})

/** A valid reply in between: after three invalid ones in a row it would not be asked. */
beforeEach(async () => {
  bad.behave(honest())
  await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
  bad.asks.length = 0
})

describe('an offer that the contract would reject is dropped, however good its price is:', () => {
  it.each(offerFaults)('%s', async (_, reason, behaviour) => {
    bad.behave(behaviour)
    const labels = { outcome: 'invalid', reason }
    const droppedBefore = await service.metric('aggregator_solver_replies_total', labels)

    const { status, body } = await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))

    expect(bad.asks).toHaveLength(1)
    expect(status).toBe(200)
    expect(body.quote.solver).toBe(honestAccount.address)
    expect(body.alternativeQuotes).toEqual([])
    expect(await service.metric('aggregator_solver_replies_total', labels)).toBe(droppedBefore + 1)
    const { body: record } = await service.get(`/v1/${chain.chainId}/quote/${body.quoteId}`)
    expect(record.solvers).toContainEqual(
      expect.objectContaining({ solver: badAccount.address, outcome: 'INVALID', reason }),
    )
  })
})

describe('an offer with a used nonce is dropped after the service knows the nonce', () => {
  const quoteOf = async () => (await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))).body
  it('from the event, when the solver has cancelled it', async () => {
    const calls = createCalls(chain.devnet, chain.contracts.settlement)
    const { blockNumber } = await calls.send(badAccount, 'cancelNonce', [77n])
    await eventually(
      () => service.metric('aggregator_chain_event_block', {}),
      (block) => block >= Number(blockNumber),
    )
    bad.behave(signedOver({ nonce: '77' }))
    const body = await quoteOf()
    expect(body.quote.solver).toBe(honestAccount.address)
    expect(body.alternativeQuotes).toEqual([])
    const { body: record } = await service.get(`/v1/${chain.chainId}/quote/${body.quoteId}`)
    expect(record.solvers).toContainEqual(
      expect.objectContaining({ solver: badAccount.address, outcome: 'INVALID', reason: 'nonce_used' }),
    )
  })
})

describe('a reply without an offer does not affect the other solvers:', () => {
  const failures: [string, string, Behaviour][] = [
    [
      'another status',
      'declined',
      async (_ask, _solver, { response }) => void response.writeHead(422).end('{}'),
    ],
    [
      'a redirect, which is not followed',
      'declined',
      async (_ask, _solver, { response }) =>
        void response.writeHead(307, { location: `${good.endpointUrl}/quote` }).end(),
    ],
    ['a closed connection', 'failed', async (_ask, _solver, { request }) => void request.socket.destroy()],
    [
      'a reply over 64 KiB',
      'failed',
      async (_ask, _solver, { response }) =>
        void response.end(JSON.stringify({ filler: 'x'.repeat(70_000) })),
    ],
    ['no JSON', 'invalid', async (_ask, _solver, { response }) => void response.end('<html>')],
  ]

  it.each(failures)('%s', async (_, outcome, behaviour) => {
    bad.behave(behaviour)
    const before = await service.metric('aggregator_solver_replies_total', { outcome })
    good.asks.length = 0
    const { status, body } = await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
    expect(status).toBe(200)
    expect(body.quote).toMatchObject({ solver: honestAccount.address, user: user.address })
    expect(body.alternativeQuotes).toEqual([])
    expect(good.asks).toHaveLength(1)
    expect(await service.metric('aggregator_solver_replies_total', { outcome })).toBe(before + 1)
  })
})
