import { expect, it, type onTestFinished } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startReadyService } from '../../support/service/ready-service.js'
import { transports, webSocket } from '../../support/sessions/session-connections.js'
import { offering, openSession, type SessionSolver } from '../../support/sessions/session-solver.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'

const [account, other] = solverAccounts
const DECLINES = 100_000
const MIB = 2 ** 20

const chain = await shared(startModelChain({ bonded: 2 }))

/** A service of one of the tests, which run at the same time, and a function that opens sessions at it. */
async function start(
  whenFinished: typeof onTestFinished,
  ...options: [environment?: Record<string, string>, overrides?: { sessionHeartbeatMs: number }]
) {
  const service = await startReadyService([chain], ...options)
  whenFinished(() => service.close())
  async function open(
    solver: typeof account,
    session: Parameters<typeof openSession>[3] = {},
  ): Promise<SessionSolver> {
    const opened = await openSession(service.url, chain, solver, session)
    whenFinished(() => opened.leave())
    return opened
  }
  return { service, open }
}

it.for(transports)(
  'a flood of declines ends the session at once, and other solvers are quoted meanwhile, on $name',
  async (transport, { onTestFinished }) => {
    const { service, open } = await start(onTestFinished)
    await open(other, { behaviour: offering('900') })
    const flood = await open(account, { transport })
    const before = process.memoryUsage().rss
    for (let count = 0; count < DECLINES; count++) flood.send({ type: 'decline', id: String(count) })
    const quote = service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
    const code = transport === webSocket ? 1008 : 8
    expect(await flood.ended).toMatchObject({ code, reason: 'RATE_LIMITED' })
    expect((await quote).body.quote).toMatchObject({ solver: other.address })
    expect(process.memoryUsage().rss - before).toBeLessThan(256 * MIB)
    expect(await service.metric('aggregator_solver_session_ends_total', { reason: 'RATE_LIMITED' })).toBe(1)
  },
)
