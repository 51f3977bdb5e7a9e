import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../../packages/protocol/src/clock.js'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import { eventually } from '../../support/eventually.js'
import { startService, type TestService } from '../../support/service/service.js'
import { startSolver, type TestSolver } from '../../support/solvers/solver.js'

let chain: TestChain
let traffic: Traffic
let solver: TestSolver
let service: TestService
let skippedMs = 0

/** The clock of this machine, which a test sets forward. */
const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + skippedMs }

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
  traffic = await createTraffic(chain, { seed: 43 })
  solver = await startSolver(chain, solverAccounts[0])
})
beforeEach(async () => {
  // An idle poll is far behind the end of the test, so that only a waking can have read what happens.
  const environment = { [`POLL_INTERVAL_MS_${chain.chainId}`]: '50', IDLE_POLL_MS: '60000' }
  service = await startService(chain, environment, { clock })
  await solver.register(service)
})
afterEach(() => service?.close())
afterAll(async () => {
  await solver?.close()
  await chain?.stop()
})

const headOf = async () => (await service.get('/health')).body.chains[0].headBlock

async function mineBlock(): Promise<number> {
  await traffic.mine()
  return (await traffic.head()).number
}

/** Lets a minute pass without demand, and then a block that the service does not see. */
async function becomeIdle(): Promise<void> {
  await eventually(headOf, (head) => head !== undefined)
  skippedMs += 60_000
  // A poll under way reads this block or an earlier one. The second block comes within the idle pause.
  await eventually(
    async () => [await mineBlock(), await headOf()],
    ([mined, head]) => mined > head + 3,
  )
}

it('an order is never older than the chain, also when the chain was idle', async () => {
  const order = traffic.order()
  const read = async () => (await service.get(`/v1/${chain.chainId}/order/${order.orderId}`)).body.state
  expect(await read()).toBe('NONE')
  await becomeIdle()
  await traffic.mine([traffic.actions.deposit(order)])
  expect(await read()).toBe('DEPOSITED')
})
