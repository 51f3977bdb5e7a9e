import { afterAll, beforeAll, it } from 'vitest'
import { devAccounts } from '../../../packages/cli/src/devnet/deploy.js'
import { solverAccounts, startChain, type TestChain, user } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import { expectAtLast } from '../../support/expect-at-last.js'
import { startReplicas } from '../../support/replicas/replicas.js'
import type { TestService } from '../../support/service/service.js'
import { startSolver, type TestSolver } from '../../support/solvers/solver.js'

const [account] = solverAccounts

let chain: TestChain
let traffic: Traffic
let solver: TestSolver

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
  traffic = await createTraffic(chain, { seed: 21 })
  solver = await startSolver(chain, account)
})
afterAll(async () => {
  await solver?.close()
  await chain?.stop()
})

/** Orders of the solver, one of each user, are deposited. They can be filled until the next second. */
async function deposit(users: readonly { readonly address: typeof user.address }[]) {
  const { timestamp } = await traffic.head()
  const terms = { solver: account, inputAmount: 1000n, outputAmount: 100_000n, fillDeadline: timestamp }
  const orders = users.map(({ address }) => traffic.actions.order({ ...terms, user: address }))
  await traffic.mine(orders.map(traffic.actions.deposit))
  return orders
}

/** At each replica, the statistics of the solver have these values, and the total bond that the contract has. */
async function expectStats(services: readonly TestService[], values: Record<string, unknown>): Promise<void> {
  const { view } = createCalls(chain.devnet, chain.contracts.settlement)
  const [totalBond] = await view.solvers([account.address])
  const expected = { ...values, totalBond: String(totalBond) }
  for (const service of services)
    for (const path of [`/${account.address}/stats`, '/stats'])
      await expectAtLast(async () => {
        const { body } = await service.get(`/v1/${chain.chainId}/solvers${path}`)
        const stats = body.stats ?? body.solvers[0]
        return Object.fromEntries(Object.keys(expected).map((name) => [name, stats?.[name]]))
      }, expected)
}

it('orders, fill rate and bond are the same at each replica, also after a reorganisation', async () => {
  const { services } = await startReplicas(chain, {
    BOND_CHECK_INTERVAL_MS: '200',
  })
  await solver.register(services[0])
  const none = { deposited: 0, settled: 0, refunded: 0, fillRate: undefined }
  await expectStats(services, none)

  await traffic.mine((await deposit([user])).map(traffic.actions.fill))
  await expectStats(services, { ...none, deposited: 1, settled: 1, fillRate: 1 })
  const failed = await deposit([user, devAccounts[8]])
  await traffic.mine(failed.map((order) => traffic.actions.refund(order)))
  await expectStats(services, { deposited: 3, settled: 1, refunded: 2, fillRate: 1 / 3 })

  await traffic.reorganise(1)
  await expectStats(services, { ...none, deposited: 3, settled: 1, fillRate: 1 })
})
