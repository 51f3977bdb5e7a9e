import { expect, it, onTestFinished } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import { grpc, webSocket } from '../../support/sessions/session-connections.js'
import { offering, silent } from '../../support/sessions/session-solver.js'
import { startSessionStage } from '../../support/sessions/session-stage.js'
import { honest, startSolver } from '../../support/solvers/solver.js'

const [account, other, third] = solverAccounts

const { chain, start, open, ask: askQuote, listed } = await startSessionStage(3)

it.each([
  [webSocket, 'PAUSED'],
  // As clients of gRPC write the code.
  [grpc, 'DECLINE_CODE_PAUSED'],
])(
  'on $name, a solver without an endpoint is listed, is asked, and wins a quote, and declines one with its code',
  async (transport, code) => {
    const service = await start()
    const solver = await startSolver(chain, other, honest({ output: '1000' }))
    onTestFinished(() => solver.close())
    await solver.register(service)
    const session = await open(account, { transport, name: 'Ada', behaviour: offering('1001') })
    expect(await listed()).toContainEqual(expect.objectContaining({ address: account.address, name: 'Ada' }))

    const { status, body } = await askQuote()
    expect(status).toBe(200)
    expect(body.quote).toMatchObject({ solver: account.address, outputAmount: '1001' })
    expect(body.alternativeQuotes).toHaveLength(1)
    const ask = await session.next('quoteRequest')
    const [httpAsk] = solver.asks
    expect(ask).toMatchObject({ ...httpAsk, kind: 'FIRM' })
    expect(ask.deadline).toBeGreaterThan(Date.now() - 10_000)
    expect(await session.next('result')).toMatchObject({ id: ask.id, outcome: 'QUOTED', rank: 1 })
    const ownRecord = async (id: string) =>
      (await service.get(`/v1/${chain.chainId}/quote/${id}`)).body.solvers
    expect(await ownRecord(ask.id)).toMatchObject([{ solver: account.address, outcome: 'QUOTED', rank: 1 }])

    session.behave(async ({ id }) => ({ type: 'decline', id, code }))
    await askQuote()
    const { id } = await session.next('result', 1)
    expect(await ownRecord(id)).toMatchObject([{ outcome: 'DECLINED', declineCode: 'PAUSED' }])
    session.leave()
    await eventually(
      () => service.metric('aggregator_solver_sessions', { transport: transport.name }),
      (open) => open === 0,
    )
  },
)

it('a solver with an endpoint too is asked on its session, and at its endpoint after the session', async () => {
  const service = await start()
  const solver = await startSolver(chain, account, honest({ output: '100' }))
  onTestFinished(() => solver.close())
  await solver.register(service)
  const session = await open(account, { behaviour: offering('200') })
  expect((await askQuote()).body.quote.outputAmount).toBe('200')
  session.leave()
  const { body } = await eventually(askQuote, ({ body }) => body.quote?.outputAmount === '100')
  expect(body.alternativeQuotes).toEqual([])
})

it('a request that is open when the solver leaves fails at once', async () => {
  const service = await start({ QUOTE_TIMEOUT_MS: '20000' })
  const session = await open(account, { behaviour: silent })
  const quote = askQuote()
  const { id } = await session.next('quoteRequest')
  session.leave()
  expect((await quote).status).toBe(503)
  const { body } = await service.get(`/v1/${chain.chainId}/quote/${id}`)
  expect(body.solvers).toMatchObject([{ outcome: 'FAILED', reason: 'session_ended' }])
  expect(await service.metric('aggregator_solver_session_ends_total', { reason: 'CLOSED' })).toBe(1)
})

it("an answer with another solver's id ends the session, and the other solver is not hurt", async () => {
  await start()
  let stolen = ''
  const isStolen = deferred()
  await open(other, {
    behaviour: async (ask, signer) => {
      stolen = ask.id
      isStolen.open()
      await thief.ended
      return offering('900')(ask, signer)
    },
  })
  const thief = await open(third, {
    behaviour: async () => {
      await isStolen.opened
      return { type: 'decline', id: stolen, code: 'OTHER' }
    },
  })
  const { body } = await askQuote()
  expect(body.quote).toMatchObject({ solver: other.address, outputAmount: '900' })
  expect(await thief.ended).toMatchObject({ code: 1008, reason: 'RATE_LIMITED' })
})
