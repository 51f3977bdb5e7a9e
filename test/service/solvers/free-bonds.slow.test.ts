import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BOND, solverAccounts, user } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { eventually } from '../../support/eventually.js'
import { startDatabaseLink } from '../../support/faults/database-link.js'
import { type RpcProxy, startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { openReplicas, startReplicas } from '../../support/replicas/replicas.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { contractStruct, honest, startSolver } from '../../support/solvers/solver.js'

const [account] = solverAccounts
/** 5% of it is the whole bond. */
const LARGEST = BOND * 20n
/** `solvers(address)` */
const SOLVERS = '0x57f58d98'

let rpc: RpcProxy
let environment: Record<string, string>

const chain = await shared(startModelChain({ bonded: 1 }))
const calls = createCalls(chain.devnet, chain.contracts.settlement)
await calls.fund(chain.contracts.weth, user, 10n ** 24n)
await calls.fund(chain.contracts.usdc, account, 2n ** 128n)
const solver = await shared(startSolver(chain, account))
const folder = await mkdtemp(join(tmpdir(), 'quote-aggregator-'))

beforeEach(async () => {
  solver.behave(honest({ output: `${LARGEST}` }))
  rpc = await startRpcProxy(chain.devnet.rpcUrl)
  environment = {
    [`RPC_URL_${chain.chainId}`]: rpc.url,
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
    MIN_SOLVER_BOND: '1',
  }
})

afterEach(() => rpc.close())
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

const quote = async (service: TestService) =>
  (await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))).body
const untilOffered = (service: TestService, isOffered: boolean) =>
  eventually(
    () => quote(service),
    (body) => (body.quote !== undefined) === isOffered,
  )

/** Takes the solver's offer of the whole bond. */
async function deposit(service: TestService) {
  const body = await quote(service)
  await calls.send(user, 'deposit', [contractStruct(body.quote), body.solverSignature])
  return body
}

describe('an offer that the free bond does not cover is dropped', () => {
  it('after an order has reserved it, until that is filled', async () => {
    const service = await startService(chain, environment)
    await solver.register(service)
    const { orderId } = await deposit(service)
    await untilOffered(service, false)
    await calls.send(account, 'fill', [orderId])
    await untilOffered(service, true)
    await service.close()
  })

  it('after an order until its refund, which reduces the bond permanently', async () => {
    const snapshot = await calls.client.snapshot()
    const service = await startService(chain, environment)
    await solver.register(service)
    solver.behave(honest({ output: `${LARGEST / 2n}` }))
    const { orderId, quote: taken } = await deposit(service)
    solver.behave(honest({ output: `${LARGEST / 2n + 20n}` }))
    await untilOffered(service, false)
    await calls.nextBlockAt(taken.fillDeadline + 1)
    await calls.send(user, 'refund', [orderId])
    await eventually(
      () => service.metric('aggregator_solver_free_bond', {}),
      (free) => free === Number(BOND / 2n),
    )
    await untilOffered(service, false)
    solver.behave(honest({ output: `${LARGEST / 2n}` }))
    await untilOffered(service, true)
    await service.close()
    await calls.client.revert({ id: snapshot })
  })

  it('until a reorganisation removes the order that has reserved it', async () => {
    const service = await startService(chain, environment)
    await solver.register(service)
    await deposit(service)
    await untilOffered(service, false)
    await calls.client.request({ method: 'anvil_reorg' as never, params: [1, []] as never })
    await untilOffered(service, true)
    await service.close()
  })

  it('after a restart too, while the RPC answers only which contract it is', async () => {
    const kept = { ...environment, DB_PATH: join(folder, 'kept.db') }
    const before = await startService(chain, kept)
    await solver.register(before)
    await calls.send(account, 'requestUnstake', [1n])
    await untilOffered(before, false)
    await before.close()
    rpc.revert(SOLVERS)
    const after = await startService(chain, kept)
    await untilOffered(after, false)
    rpc.intercept()
    await calls.send(account, 'cancelUnstake', [])
    await untilOffered(after, true)
    await after.close()
  })
})

describe('a follower replica', () => {
  it('drops each offer that the leader knows to be too large, and each nonce that it saw cancelled', async () => {
    const { services } = await startReplicas(chain, { MIN_SOLVER_BOND: '1' })
    await solver.register(services[1])
    for (const service of services) await untilOffered(service, true)
    await calls.send(account, 'requestUnstake', [1n])
    for (const service of services) await untilOffered(service, false)
    await calls.send(account, 'cancelUnstake', [])
    for (const service of services) await untilOffered(service, true)

    await calls.send(account, 'cancelNonce', [5000n])
    solver.behave(async (ask, { quoteFor, sign }) =>
      sign({ ...quoteFor(ask), outputAmount: '1000', nonce: '5000' }),
    )
    for (const service of services) await untilOffered(service, false)
  })

  it('knows what was sent while it was disconnected after it reconnects', async () => {
    const replicas = await openReplicas(chain)
    const first = await replicas.start({ MIN_SOLVER_BOND: '1' })
    const link = replicas.closing(await startDatabaseLink(replicas.databaseUrl))
    const second = await replicas.start({ MIN_SOLVER_BOND: '1', DATABASE_URL: link.url })
    await solver.register(first)
    for (const service of [first, second]) await untilOffered(service, true)
    link.cut()
    await calls.send(account, 'requestUnstake', [1n])
    await untilOffered(first, false)
    expect((await quote(second)).quote).toBeDefined()
    link.restore()
    await untilOffered(second, false)
    await calls.send(account, 'cancelUnstake', [])
    for (const service of [first, second]) await untilOffered(service, true)
  })
})
