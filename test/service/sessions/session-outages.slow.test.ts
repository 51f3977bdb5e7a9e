import { expect, it, onTestFinished } from 'vitest'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { makeRestorablePostgres } from '../../support/databases/database-backup.js'
import { eventually } from '../../support/eventually.js'
import { startDatabaseLink } from '../../support/faults/database-link.js'
import { offering } from '../../support/sessions/session-solver.js'
import { startSessionStage } from '../../support/sessions/session-stage.js'
import { contractStruct } from '../../support/solvers/solver.js'

const [account, other] = solverAccounts
const { chain, start, open, ask: askQuote, listed } = await startSessionStage()
const calls = createCalls(chain.devnet, chain.contracts.settlement)
await calls.fund(chain.contracts.weth, user, 10n ** 20n)

const untilListed = (count: number) => eventually(listed, (list) => list.length === count)

it('PostgreSQL away: the session stays, ends and connects come right', async () => {
  const { url: databaseUrl } = await makeRestorablePostgres()
  const link = await startDatabaseLink(databaseUrl)
  onTestFinished(() => link.close())
  const service = await start({ DATABASE_URL: link.url })
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
