import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { BOND, solverAccounts, type TestChain } from '../../support/chain/chain.js'
import { databases, type TestDatabase } from '../../support/databases/service-databases.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { listOwnResults, signOwnResults } from '../../support/solvers/own-results.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import {
  type Behaviour,
  honest,
  register,
  startSolver,
  type TestSolver,
} from '../../support/solvers/solver.js'

const [best, second] = solverAccounts
const QUOTE_TIMEOUT_MS = '3000'

describe.each(databases)("a solver's own results on %s", (_kind, makeDatabase) => {
  let chain: TestChain
  let database: TestDatabase
  let service: TestService
  let solvers: TestSolver[]
  const clock = { aheadMs: 0 }
  /** The ids under which the two solvers were asked, the last one first. */
  const askedUnder: [string[], string[]] = [[], []]

  const start = (environment: Record<string, string> = {}) =>
    startService(
      chain,
      { ...database.environment, QUOTE_TIMEOUT_MS, ...environment },
      { clock: { ...systemClock, now: () => Date.now() + clock.aheadMs } },
    )
  const ask = async (changes = {}) =>
    (await service.post(`/v1/${chain.chainId}/quote`, { ...quoteRequest(chain), ...changes })).body
  const list = (account = second, fields = {}) => listOwnResults(service, chain.chainId, account, fields)

  function behave(...behaviours: Behaviour[]): void {
    for (const [index, behaviour] of behaviours.entries())
      solvers[index]?.behave((asked, own, exchange) => {
        askedUnder[index as 0 | 1].unshift(String(exchange.request.headers['x-quote-id']))
        return behaviour(asked, own, exchange)
      })
  }

  beforeAll(async () => {
    chain = await startModelChain({ bonded: 2 })
    database = await makeDatabase()
    service = await start()
    solvers = await Promise.all([best, second].map((account) => startSolver(chain, account)))
    for (const solver of solvers) await solver.register(service)
  })
  afterEach(async () => {
    clock.aheadMs = 0
  })
  afterAll(async () => {
    await service?.close()
    await Promise.all(solvers?.map((solver) => solver.close()) ?? [])
    await chain?.stop()
    await database?.drop()
  })

  it('are listed at once, with nothing of other solvers before the deposit deadline', async () => {
    behave(honest({ output: '4000' }), honest({ output: '3999' }))
    const { quoteId, quote } = await ask({ depositWindow: 60 })
    const { status, body } = await list()
    expect(status).toBe(200)
    const { originChainId, ...asked } = quoteRequest(chain)
    expect(body).toEqual({
      results: [
        {
          quoteId: askedUnder[1][0],
          requestedAt: expect.any(Number),
          kind: 'FIRM',
          request: { ...asked, depositDeadline: quote.depositDeadline, fillDeadline: quote.fillDeadline },
          result: expect.objectContaining({
            solver: second.address,
            outcome: 'QUOTED',
            rank: 2,
            outputAmount: '3999',
          }),
        },
      ],
      nextPageToken: '',
      circuitBreaker: 'CLOSED',
      totalBond: String(BOND),
      freeBond: expect.stringMatching(/^[1-9][0-9]*$/),
    })
    const text = JSON.stringify(body)
    for (const secret of [quoteId, askedUnder[0][0], best.address, best.address.toLowerCase(), '4000'])
      expect(text).not.toContain(secret)

    clock.aheadMs = 62_000
    const timestamp = Date.now() + clock.aheadMs
    const later = await list(second, await signOwnResults(second, service.url, { timestamp }))
    expect(later.body.results).toMatchObject([{ bestAmount: '4000', distanceBps: 2.5 }])
    expect(JSON.stringify(later.body)).not.toContain(best.address)
  })

  it('need a signature by this solver, for this instance, at this time', async () => {
    const own = await signOwnResults(second, service.url)
    const withFields = async (fields: object) => (await list(second, fields)).body.code
    expect(await withFields(await signOwnResults(best, service.url))).toBe('SIGNATURE_INVALID')
    expect(await withFields({ ...own, timestamp: own.timestamp + 1 })).toBe('SIGNATURE_INVALID')
    expect(await withFields(await signOwnResults(second, service.url, { protocolName: 'Other' }))).toBe(
      'SIGNATURE_INVALID',
    )
    const foreign = await signOwnResults(second, 'https://other.example')
    expect(await withFields(foreign)).toBe('AUDIENCE_REJECTED')
    expect(await withFields({ ...foreign, audience: service.url })).toBe('SIGNATURE_INVALID')
    for (const minutes of [-5.1, 5.1]) {
      const timestamp = Date.now() + minutes * 60_000
      expect(
        await withFields(await signOwnResults(second, service.url, { timestamp: Math.round(timestamp) })),
      ).toBe('TIMESTAMP_OUT_OF_RANGE')
    }
    expect(await withFields({ audience: 'quotes.example', signature: '0x', timestamp: -1 })).toBe(
      'INVALID_ARGUMENT',
    )
  })

  it('can be read again with the same signature, which does not use up the timestamp of a registration', async () => {
    const own = await signOwnResults(second, service.url)
    for (let reads = 0; reads < 2; reads++) expect((await list(second, own)).status).toBe(200)
    const endpointUrl = solvers[1]?.endpointUrl ?? ''
    await register(service, chain.chainId, second, { endpointUrl, name: 'B', timestamp: own.timestamp })
  })
})
