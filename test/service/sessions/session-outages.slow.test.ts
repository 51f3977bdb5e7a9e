import type { LocalAccount } from 'viem'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { makeRestorablePostgres } from '../../support/databases/database-backup.js'
import { eventually } from '../../support/eventually.js'
import { startDatabaseLink } from '../../support/faults/database-link.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { offering, openSession, type SessionSolver } from '../../support/sessions/session-solver.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { contractStruct } from '../../support/solvers/solver.js'

const [account, other] = solverAccounts
let service: TestService
let sessions: SessionSolver[] = []

const chain = await shared(startModelChain({ bonded: 2 }))
const calls = createCalls(chain.devnet, chain.contracts.settlement)
await calls.fund(chain.contracts.weth, user, 10n ** 20n)

afterEach(async () => {
  for (const session of sessions) session.leave()
  sessions = []
  await service?.close()
})

async function open(
  solver: LocalAccount,
  options: Parameters<typeof openSession>[3] = {},
  url = service.url,
) {
  const session = await openSession(url, chain, solver, options)
  sessions.push(session)
  return session
}
const listed = async (on = chain) => (await service.get(`/v1/${on.chainId}/solvers`)).body
const untilListed = (count: number) => eventually(listed, (list) => list.length === count)
const askQuote = () => service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))

it('PostgreSQL away: the session stays, ends and connects come right', async () => {
  const { url: databaseUrl } = await makeRestorablePostgres()
  const link = await startDatabaseLink(databaseUrl)
  onTestFinished(() => link.close())
  service = await startService(chain, { DATABASE_URL: link.url })
  await service.ready()
  const a = await open(account, { behaviour: offering('500'), events: {} })
  const b = await open(other, { behaviour: offering('900') })
  link.cut()
  await eventually(
    () => service.get(`/v1/${chain.chainId}/orders`),
    ({ status }) => status === 503,
  )
  expect((await askQuote()).body.quote).toMatchObject({ outputAmount: '900' })
  b.leave()
  await b.ended
  await untilListed(1)
  const quote = await askQuote()
  expect(quote.body.quote).toMatchObject({ outputAmount: '500' })
  await expect(open(other)).rejects.toThrow('DATABASE_UNAVAILABLE')
  await calls.send(user, 'deposit', [contractStruct(quote.body.quote), quote.body.solverSignature])
  link.restore()
  await a.next('event')
  const c = await eventually(
    () => open(other, { behaviour: offering('800') }).catch(() => undefined),
    (s) => s !== undefined,
  )
  await untilListed(2)
  expect((await askQuote()).body.quote).toMatchObject({ outputAmount: '800' })
  expect(c?.count('error')).toBe(0)
  expect(a.count('error')).toBe(0)
})
