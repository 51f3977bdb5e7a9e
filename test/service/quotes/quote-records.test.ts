import { pino } from 'pino'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { between } from '../../support/between.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { startScene } from '../../support/service/scene.js'
import { startService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type Behaviour, honest, register } from '../../support/solvers/solver.js'

const [best, second, third] = solverAccounts

/** Returns `at` in Unix milliseconds once that is set. */
const clock: { at: number | undefined } = { at: undefined }
const lines: string[] = []
/** The id under which each solver was last asked, by its position in `solvers`. */
let askedUnder: string[]

const { chain, service, solvers, ask } = await startScene({
  solvers: ['Best', 'Second', 'Third'],
  environment: { QUOTE_TIMEOUT_MS: '3000' },
  overrides: {
    clock: { ...systemClock, now: () => clock.at ?? Date.now() },
    log: pino({ level: 'debug' }, { write: (line) => void lines.push(line) }),
  },
})
const path = `/v1/${chain.chainId}/quote`

beforeEach(() => {
  clock.at = undefined
  askedUnder = []
  behave(honest({ output: '3000' }), honest({ output: '2000' }), honest({ output: '1000' }))
})

function behave(...behaviours: Behaviour[]): void {
  for (const [index, behaviour] of behaviours.entries()) {
    solvers[index]?.behave((asked, own, exchange) => {
      askedUnder[index] = String(exchange.request.headers['x-quote-id'])
      return behaviour(asked, own, exchange)
    })
  }
}

const read = async (quoteId: string | undefined) => (await service.get(`${path}/${quoteId}`)).body

describe('the record of a quote', () => {
  it('shows its caller all offers by rank, and a solver its own one, and nothing of the others', async () => {
    const before = Date.now()
    const { body } = await ask()
    const after = Date.now()
    const { depositDeadline, fillDeadline } = body.quote
    const { originChainId, ...asked } = quoteRequest(chain)
    const common = {
      kind: 'FIRM',
      chainId: chain.chainId,
      requestedAt: between(before, after),
      request: { ...asked, depositDeadline, fillDeadline },
    }
    const offers = [best, second, third].map(({ address }, index) => ({
      solver: address,
      outcome: 'QUOTED',
      rank: index + 1,
      durationMs: between(0, after - before),
      inputAmount: asked.amount,
      outputAmount: String(3000 - 1000 * index),
      explanation: expect.any(String),
    }))
    const record = await read(body.quoteId)
    const { quoteId } = body
    const durationMs = between(0, after - before)
    expect(record).toMatchObject({ ...common, quoteId, outcome: 'QUOTED', durationMs, solvers: offers })
    expect(record.solvers.map(({ explanation }: { explanation: string }) => explanation)).toEqual([
      'The best offer: it is the one that the caller got first.',
      expect.stringContaining('1000 of the output token'),
      expect.stringContaining('2000 of the output token'),
    ])
    for (const [index, offer] of offers.entries())
      expect(await read(askedUnder[index])).toEqual({
        ...common,
        quoteId: askedUnder[index],
        solvers: [offer],
      })
    const text = JSON.stringify(await read(askedUnder[2]))
    for (const secret of [quoteId, best.address, second.address, '3000', '2000'])
      expect(text).not.toContain(secret)
  })

  it("shows a solver the best amount only after the request's deposit deadline, be the offer's earlier", async () => {
    const binding: Behaviour = async (asked, { quoteFor, sign }) => {
      const { depositDeadline, fillDeadline } = asked
      const earlier = { depositDeadline: depositDeadline - 30, fillDeadline: fillDeadline - 30 }
      return sign({ ...quoteFor(asked), outputAmount: '3000', ...earlier })
    }
    behave(binding, honest({ output: '2000' }), honest({ output: '1000' }))
    const { body } = await ask({ depositWindow: 60, minDepositWindow: 30 })
    expect(body.quote.outputAmount).toBe('3000')
    const deadlineMs = (body.quote.depositDeadline + 30) * 1000
    const before = await read(askedUnder[2])
    expect(before.bestAmount).toBeUndefined()
    expect(before.solvers[0].explanation).toContain('the deposit deadline')
    clock.at = deadlineMs + 999
    expect((await read(askedUnder[2])).bestAmount).toBeUndefined()
    clock.at = deadlineMs + 1000
    const after = await read(askedUnder[2])
    expect(after.bestAmount).toBe('3000')
    expect(after.solvers).toHaveLength(1)
    expect(after.solvers[0].explanation).toContain('2000 of the output token')
    expect(JSON.stringify(after)).not.toContain(best.address)
  })

  it('leaves no line in the log with the id of a solver', async () => {
    const { body } = await ask()
    await read(askedUnder[0])
    const own = () => lines.filter((line) => line.includes(askedUnder[0] ?? ''))
    await expect.poll(own).toHaveLength(1)
    for (const line of own()) {
      expect(JSON.parse(line)).toMatchObject({ msg: 'request', path: `${path}/${askedUnder[0]}` })
      for (const secret of [body.quoteId, second.address, second.address.toLowerCase()])
        expect(line).not.toContain(secret)
    }
  })
})

describe('the record shows a solver why it gave no offer', () => {
  it('after a decline, and an invalid reply with its amounts as they were written', async () => {
    const decline: Behaviour = async (_asked, _solver, { response }) => void response.writeHead(422).end()
    behave(decline, decline, async (asked, { quoteFor, sign }) =>
      sign({ ...quoteFor(asked), inputAmount: '7', outputAmount: '31337' }),
    )
    const start = performance.now()
    const { status, body } = await ask()
    const durationMs = between(0, performance.now() - start)
    expect([status, body.code]).toEqual([503, 'NO_QUOTES'])
    const record = await read(body.quoteId)
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

  it.each([
    ['connection_refused', 'http://127.0.0.1:1', 'Nothing listens'],
    ['name_not_resolved', 'http://solver.invalid', 'does not resolve'],
    ['tls_failed', () => solvers[0].endpointUrl.replace('http:', 'https:'), 'TLS'],
  ] as const)("after %s, without the endpoint's address", async (reason, endpoint, words) => {
    const endpointUrl = typeof endpoint === 'string' ? endpoint : endpoint()
    await register(service, chain.chainId, third, { endpointUrl })
    const { body } = await ask({ amount: '55' })
    const record = await read(body.quoteId)
    expect(record.solvers).toContainEqual({
      solver: third.address,
      outcome: 'FAILED',
      durationMs: between(0, record.durationMs),
      reason,
      explanation: expect.stringContaining(words),
    })
    expect(JSON.stringify(record)).not.toContain(new URL(endpointUrl).host)
    await solvers[2].register(service)
  })
})

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
