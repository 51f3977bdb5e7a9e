import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BOND, solverAccounts } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { eventually } from '../../support/eventually.js'
import { startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, startSolver } from '../../support/solvers/solver.js'

const [account] = solverAccounts
const OUTPUT = 1_000_000_000n

let rpc: Awaited<ReturnType<typeof startRpcProxy>>
let environment: Record<string, string>

const chain = await shared(startModelChain({ bonded: 1 }))
const calls = createCalls(chain.devnet, chain.contracts.settlement)
const solver = await shared(startSolver(chain, account, honest({ output: OUTPUT.toString() })))
const folder = await mkdtemp(join(tmpdir(), 'quote-aggregator-'))

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

beforeEach(async () => {
  rpc = await startRpcProxy(chain.devnet.rpcUrl)
  // The minimum is the whole bond, so that any smaller bond is too small.
  environment = {
    [`RPC_URL_${chain.chainId}`]: rpc.url,
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
    MIN_SOLVER_BOND: BOND.toString(),
  }
})

afterEach(() => rpc.close())

const listed = async (service: TestService) => (await service.get(`/v1/${chain.chainId}/solvers`)).body.length
const untilListed = (service: TestService, count: number) =>
  eventually(
    () => listed(service),
    (length) => length === count,
  )

async function isAsked(service: TestService): Promise<boolean> {
  const before = solver.asks.length
  await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
  return solver.asks.length > before
}

describe('a solver with an insufficient bond is neither asked nor listed until the bond is back', () => {
  it('after the events of unstaking', async () => {
    const service = await startService(chain, environment)
    await solver.register(service)
    expect(await isAsked(service)).toBe(true)

    await calls.send(account, 'requestUnstake', [1n])
    await untilListed(service, 0)
    expect(await isAsked(service)).toBe(false)
    expect((await service.get('/health')).body.activeSolvers).toEqual({ [chain.chainId]: 0 })

    await calls.send(account, 'cancelUnstake', [])
    await untilListed(service, 1)
    expect(await isAsked(service)).toBe(true)
    await service.close()
  })

  it('after the periodic read alone, when the node returns no events', async () => {
    rpc.hideLogs()
    const service = await startService(chain, { ...environment, BOND_CHECK_INTERVAL_MS: '50' })
    await solver.register(service)
    await calls.send(account, 'requestUnstake', [1n])
    await untilListed(service, 0)
    await calls.send(account, 'cancelUnstake', [])
    await untilListed(service, 1)
    await service.close()
  })
})

it('an RPC failure leaves every solver active or inactive as it was', async () => {
  const service = await startService(chain, { ...environment, BOND_CHECK_INTERVAL_MS: '20' })
  await solver.register(service)
  rpc.setUp(false)
  await eventually(
    async () => (await service.get('/health')).body.status,
    (status) => status === 'degraded',
  )
  expect(await listed(service)).toBe(1)
  expect(await isAsked(service)).toBe(true)
  await service.close()
})

it('the bond state of a solver survives a restart, also while the RPC is down', async () => {
  const kept = { ...environment, DB_PATH: join(folder, 'kept.db') }
  const before = await startService(chain, kept)
  await solver.register(before)
  await calls.send(account, 'requestUnstake', [1n])
  await untilListed(before, 0)
  await before.close()

  rpc.setUp(false)
  const after = await startService(chain, kept)
  expect(await listed(after)).toBe(0)
  await calls.send(account, 'cancelUnstake', [])
  rpc.setUp(true)
  await untilListed(after, 1)
  await after.close()
})

it('a solver with an insufficient bond keeps its place, and cannot register again', async () => {
  const service = await startService(chain, { ...environment, MAX_SOLVERS_PER_CHAIN: '1' })
  await solver.register(service)
  await calls.send(account, 'requestUnstake', [1n])
  await untilListed(service, 0)
  await expect(solver.register(service)).rejects.toThrow('BOND_INSUFFICIENT')
  await calls.send(account, 'cancelUnstake', [])
  await untilListed(service, 1)
  await service.close()
})
