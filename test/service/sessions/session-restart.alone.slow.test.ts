import { afterAll, beforeAll, expect, it } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { startReadyService } from '../../support/service/ready-service.js'
import type { TestService } from '../../support/service/service.js'
import { bondedAccounts } from '../../support/sessions/bonded-accounts.js'
import { offering, openSession } from '../../support/sessions/session-solver.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'

const SESSIONS = 50
const WITHIN_MS = 5000
const RETRY_MS = 100

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
})
afterAll(() => chain?.stop())

it('after a restart, 50 solvers have their sessions again within 5 seconds', async () => {
  const accounts = await bondedAccounts(chain, SESSIONS)
  const environment = { DB_PATH: temporaryFile(), MAX_QUOTE_FAN_OUT: '50', TRUST_PROXY: '1' }
  let service: TestService = await startReadyService([chain], environment)
  const { port } = new URL(service.url)
  const open = (index: number) =>
    openSession(service.url, chain, accounts[index] as (typeof accounts)[number], {
      behaviour: offering('1000'),
      // Each at an address of its own, as solvers are.
      forwardedFor: `198.51.100.${index}`,
    })
  const first = await Promise.all(accounts.map((_, index) => open(index)))

  const closed = service.close()
  const waits = await Promise.all(
    first.map(async (session) => (await session.next('goAway')).reconnectWithinMs),
  )
  await Promise.all(first.map(({ ended }) => ended))
  await closed
  service = await startReadyService([chain], { ...environment, PORT: port })
  const startedAt = performance.now()
  const again = await Promise.all(
    accounts.map(async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * (waits[index] as number)))
      for (;;) {
        const session = await open(index).catch(() => undefined)
        if (session !== undefined) return { session, afterMs: performance.now() - startedAt }
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }),
  )
  expect(Math.max(...again.map(({ afterMs }) => afterMs))).toBeLessThan(WITHIN_MS)
  const { body } = await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
  expect(body.alternativeQuotes).toHaveLength(SESSIONS - 1)
  for (const { session } of again) session.leave()
  await service.close()
})
