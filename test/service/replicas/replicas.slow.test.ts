import { afterEach, describe, expect, it } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { startDatabaseLink } from '../../support/faults/database-link.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { openReplicas, startReplicas } from '../../support/replicas/replicas.js'
import type { TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import {
  honest,
  signedRegistration,
  signedUnregistration,
  startSolver,
  type TestSolver,
} from '../../support/solvers/solver.js'

const chain = await shared(startModelChain({ bonded: solverAccounts.length }))
const solvers = await Promise.all(solverAccounts.map((account) => shared(startSolver(chain, account))))
const path = `/v1/${chain.chainId}/solvers`
const quotePath = `/v1/${chain.chainId}/quote`

afterEach(() => {
  for (const one of solvers) one.behave(honest())
})

const quoteAt = (replica: TestService) => replica.post(quotePath, quoteRequest(chain))
const registerAt = async (replica: TestService, { account, endpointUrl }: TestSolver, name = 'A solver') =>
  replica.post(`${path}/register`, await signedRegistration(account, { endpointUrl, name }))
const unregisterAt = async (replica: TestService, { account }: TestSolver) =>
  replica.delete(`${path}/${account.address}`, await signedUnregistration(account))
const listedAt = async (replica: TestService): Promise<string[]> =>
  (await replica.get(path)).body.map(({ address }: { address: string }) => address)
const untilListed = (replica: TestService, count: number) =>
  eventually(
    () => listedAt(replica),
    ({ length }) => length === count,
  )

describe('a solver that registers at one replica', () => {
  it('is asked by a replica that missed the notification, once that is connected again', async () => {
    const replicas = await openReplicas(chain)
    const first = await replicas.start()
    const link = replicas.closing(await startDatabaseLink(replicas.databaseUrl))
    const second = await replicas.start({ DATABASE_URL: link.url })
    const [kept, removed, added] = solvers as [TestSolver, TestSolver, TestSolver]
    for (const one of [kept, removed]) await registerAt(first, one)
    await untilListed(second, 2)

    link.cut()
    await registerAt(first, added)
    await unregisterAt(first, removed)
    expect(await listedAt(second)).toEqual([kept.account.address, removed.account.address])
    expect((await registerAt(second, removed)).body.code).toBe('DATABASE_UNAVAILABLE')
    expect((await quoteAt(second)).status).toBe(200)
    link.restore()
    await eventually(
      () => listedAt(second),
      (listed) => listed.join() === [kept.account.address, added.account.address].join(),
    )
    expect((await registerAt(second, removed)).status).toBe(200)
    await untilListed(first, 3)
  })
})

it('requests of one client are counted by each replica with RATE_LIMIT_STORE=memory', async () => {
  const { services } = await startReplicas(chain, { RATE_LIMIT_QUOTE: '1', RATE_LIMIT_STORE: 'memory' })
  for (const replica of services)
    for (const isRefused of [false, true]) expect((await quoteAt(replica)).status === 429).toBe(isRefused)
})
