import { pino } from 'pino'
import { beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { between } from '../../support/between.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type Behaviour, honest, startSolver } from '../../support/solvers/solver.js'

/** Returns `at` in Unix milliseconds once that is set. */
const clock: { at: number | undefined } = { at: undefined }
const lines: string[] = []
/** The id under which each solver was last asked, by its position in `solvers`. */
let askedUnder: string[]

const chain = await shared(startModelChain({ bonded: 3 }))
const path = `/v1/${chain.chainId}/quote`
const service = await shared(
  startService(
    chain,
    { QUOTE_TIMEOUT_MS: '3000' },
    {
      clock: { ...systemClock, now: () => clock.at ?? Date.now() },
      log: pino({ level: 'debug' }, { write: (line) => void lines.push(line) }),
    },
  ),
)
const solvers = await Promise.all(
  solverAccounts.slice(0, 3).map((account) => shared(startSolver(chain, account))),
)
for (const solver of solvers) await solver.register(service)

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

const ask = async (changes = {}) => (await service.post(path, { ...quoteRequest(chain), ...changes })).body
const read = async (quoteId: string | undefined) => (await service.get(`${path}/${quoteId}`)).body
const addressOf = (index: number) => solvers[index]?.account.address ?? ''

it('the record shows a solver the request, its own result and its rank, and nothing of the others', async () => {
  const before = Date.now()
  const { quoteId, quote } = await ask()
  const after = Date.now()
  const { originChainId, ...asked } = quoteRequest(chain)
  const { depositDeadline, fillDeadline } = quote
  for (const [index, rank] of [1, 2, 3].entries()) {
    expect(await read(askedUnder[index])).toEqual({
      quoteId: askedUnder[index],
      kind: 'FIRM',
      chainId: chain.chainId,
      requestedAt: between(before, after),
      request: { ...asked, depositDeadline, fillDeadline },
      solvers: [
        {
          solver: addressOf(index),
          outcome: 'QUOTED',
          rank,
          durationMs: between(0, after - before),
          inputAmount: asked.amount,
          outputAmount: String(3000 - 1000 * index),
          explanation: expect.any(String),
        },
      ],
    })
  }
  const text = JSON.stringify(await read(askedUnder[2]))
  for (const secret of [quoteId, addressOf(0), addressOf(1), '3000', '2000'])
    expect(text).not.toContain(secret)
})

it("the record shows a solver the best amount only after the request's deposit deadline, be the offer's earlier", async () => {
  const binding: Behaviour = async (asked, { quoteFor, sign }) => {
    const { depositDeadline, fillDeadline } = asked
    const earlier = { depositDeadline: depositDeadline - 30, fillDeadline: fillDeadline - 30 }
    return sign({ ...quoteFor(asked), outputAmount: '3000', ...earlier })
  }
  behave(binding, honest({ output: '2000' }), honest({ output: '1000' }))
  const { quote } = await ask({ depositWindow: 60, minDepositWindow: 30 })
  expect(quote.outputAmount).toBe('3000')
  const deadlineMs = (quote.depositDeadline + 30) * 1000
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
  expect(JSON.stringify(after)).not.toContain(addressOf(0))
})

it('the log has no line with the id of a solver', async () => {
  const { quoteId } = await ask()
  await read(askedUnder[0])
  const own = () => lines.filter((line) => line.includes(askedUnder[0] ?? ''))
  await expect.poll(own).toHaveLength(1)
  for (const line of own()) {
    expect(JSON.parse(line)).toMatchObject({ msg: 'request', path: `${path}/${askedUnder[0]}` })
    for (const secret of [quoteId, addressOf(1), addressOf(1).toLowerCase()])
      expect(line).not.toContain(secret)
  }
})
