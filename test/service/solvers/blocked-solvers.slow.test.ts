import { describe, expect, it, onTestFinished } from 'vitest'
import { between } from '../../support/between.js'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { databases } from '../../support/databases/service-databases.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { commandLine } from '../../support/process/command-line.js'
import { startService, type TestService } from '../../support/service/service.js'
import { offering, openSession } from '../../support/sessions/session-solver.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import {
  contractStruct,
  register,
  signedRegistration,
  signedUnregistration,
} from '../../support/solvers/solver.js'

const [account, other] = solverAccounts
const ENDPOINT = 'http://127.0.0.1:9'

const chain = await shared(startModelChain({ bonded: 2 }))
const path = `/v1/${chain.chainId}/solvers`

async function start(environment: Record<string, string>): Promise<TestService> {
  const service = await startService(chain, { BOND_CHECK_INTERVAL_MS: '100', ...environment })
  onTestFinished(() => service.close())
  return service
}

async function listed(service: TestService): Promise<string[]> {
  return (await service.get(path)).body.map(({ address }: { address: string }) => address)
}
const untilListed = (service: TestService, ...addresses: string[]) =>
  eventually(
    () => listed(service),
    (list) => list.join() === addresses.join(),
  )
const registering = async (service: TestService) =>
  service.post(`${path}/register`, await signedRegistration(account, { endpointUrl: ENDPOINT }))

describe.each(databases)('solvers block on %s', (_kind, make) => {
  it('works while a service runs, and so does solvers unblock', async () => {
    const { environment, drop } = await make()
    onTestFinished(drop)
    const cli = (...argv: string[]) => commandLine(['solvers', ...argv], { environment })
    const service = await start(environment)
    for (const each of [account, other])
      await register(service, chain.chainId, each, { endpointUrl: ENDPOINT })

    const removed = await cli('block', account.address.toLowerCase(), '--chain', '31337')
    expect(removed).toEqual({
      code: 0,
      stdout: `${account.address} is blocked on chain 31337, and removed from chain 31337.\n`,
      stderr: '',
    })
    await untilListed(service, other.address)
    const refused = await registering(service)
    expect([refused.status, refused.body]).toEqual([
      403,
      { error: 'The operator of this instance has blocked this address.', code: 'SOLVER_BLOCKED' },
    ])
    const gone = await service.delete(`${path}/${account.address}`, await signedUnregistration(account))
    expect(gone.body.code).toBe('SOLVER_NOT_FOUND')

    expect((await cli('blocked')).stdout).toMatch(
      new RegExp(`^solver +chain +blocked\n${account.address}  31337  \\S+ \\S+ UTC\n$`),
    )
    const allowed = await cli('unblock', account.address, '--chain', '31337', '--json')
    expect([allowed.code, JSON.parse(allowed.stdout)]).toEqual([
      0,
      { status: 'allowed', address: account.address, chainId: 31337 },
    ])
    expect((await registering(service)).status).toBe(200)
    expect((await cli('blocked')).stdout).toBe('No address is blocked.\n')
  })

  it('works while no service runs, and for every chain', async () => {
    const { environment, drop } = await make()
    onTestFinished(drop)
    const cli = (...argv: string[]) => commandLine(['solvers', ...argv], { environment })
    const before = await startService(chain, environment)
    await register(before, chain.chainId, account, { endpointUrl: ENDPOINT })
    await before.close()

    const removedAt = Date.now()
    const removed = await cli('block', account.address, '--json')
    expect([removed.code, JSON.parse(removed.stdout)]).toEqual([
      0,
      {
        status: 'removed',
        address: account.address,
        blockedAt: between(removedAt, Date.now()),
        removedFrom: [31337],
      },
    ])
    const unknown = await cli('block', other.address)
    expect(unknown.stdout).toBe(`${other.address} is blocked on every chain.\n`)
    const after = await start(environment)
    expect(await listed(after)).toEqual([])
    expect((await registering(after)).body.code).toBe('SOLVER_BLOCKED')

    await cli('block', account.address, '--chain', '31337')
    const single = await cli('unblock', account.address, '--chain', '31337')
    expect([single.code, single.stdout, single.stderr]).toEqual([
      4,
      '',
      `error: ${account.address} is blocked on every chain: leave --chain out to change that.\n`,
    ])
    expect(JSON.parse((await cli('blocked', '--json')).stdout)).toHaveLength(3)
    expect((await cli('unblock', account.address)).stdout).toBe(
      `${account.address} is no longer blocked on every chain.\n`,
    )
    expect((await registering(after)).status).toBe(200)
    const again = await cli('unblock', account.address)
    expect([again.code, again.stderr]).toEqual([
      4,
      `error: ${account.address} is not blocked on every chain.\n`,
    ])
  })
})

/** A session with events whose solver has an order that a user has deposited, and is blocked then. */
async function blockWithOpenOrder() {
  const environment = { DB_PATH: temporaryFile() }
  const service = await start(environment)
  const calls = createCalls(chain.devnet, chain.contracts.settlement)
  const { weth, usdc } = chain.contracts
  for (const [token, owner] of [
    [weth, user],
    [usdc, account],
  ] as const) {
    await calls.fund(token, owner, 10n ** 20n)
  }
  const session = await openSession(service.url, chain, account, { behaviour: offering('1000'), events: {} })
  onTestFinished(session.leave)
  const { body } = await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
  await calls.send(user, 'deposit', [contractStruct(body.quote), body.solverSignature])
  await session.next('event')
  await commandLine(['solvers', 'block', account.address], { environment })
  await untilListed(service)
  return { environment, service, calls, session, orderId: body.orderId }
}

it('a blocked solver gets the events of its open orders on its session, which ends after them', async () => {
  const { service, calls, session, orderId } = await blockWithOpenOrder()
  expect((await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))).status).toBe(503)
  await calls.send(account, 'fill', [orderId])
  expect((await session.next('event', 1)).event).toMatchObject({ type: 'Settled', orderId })
  expect(await session.ended).toMatchObject({ reason: 'SOLVER_BLOCKED' })
})

it('a solver that is unblocked while its orders are open is told to connect again', async () => {
  const { environment, session } = await blockWithOpenOrder()
  await commandLine(['solvers', 'unblock', account.address], { environment })
  expect(await session.ended).toMatchObject({ reason: 'DATABASE_UNAVAILABLE' })
})
