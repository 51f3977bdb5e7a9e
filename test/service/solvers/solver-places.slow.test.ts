import { pino } from 'pino'
import { toFunctionSelector } from 'viem'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { BOND, solverAccounts } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { passChainTime } from '../../support/chain/pass-time.js'
import { eventually } from '../../support/eventually.js'
import { startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { nextTimestamp, register, signedRegistration } from '../../support/solvers/solver.js'

const [first, second, newcomer, latecomer] = solverAccounts
const ENDPOINT = 'http://127.0.0.1:9'
const HOUR_MS = 3_600_000
const SOLVERS = toFunctionSelector('solvers(address)')
type Account = typeof first

let rpc: Awaited<ReturnType<typeof startRpcProxy>>
let aheadMs: number
let lines: Record<string, unknown>[]

const chain = await shared(startModelChain({ bonded: 4 }))
// So that the clock of the service decides, as long as it is not further ahead.
await passChainTime(chain, 72 * HOUR_MS)
const calls = createCalls(chain.devnet, chain.contracts.settlement)
const path = `/v1/${chain.chainId}/solvers`

beforeEach(async () => {
  rpc = await startRpcProxy(chain.devnet.rpcUrl)
  aheadMs = 0
  lines = []
})

afterEach(() => rpc.close())

/** A service with two places. It reads its chain only at bond checks, with a clock that a test moves. */
async function start(environment: Record<string, string> = {}): Promise<TestService> {
  rpc.hideLogs()
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
  const settings = {
    [`RPC_URL_${chain.chainId}`]: rpc.url,
    // The minimum is the whole bond, so that any smaller bond is too small.
    MIN_SOLVER_BOND: BOND.toString(),
    MAX_SOLVERS_PER_CHAIN: '2',
    BOND_CHECK_INTERVAL_MS: '50',
    ...environment,
  }
  const service = await startService(chain, settings, {
    clock: { ...systemClock, now: () => Date.now() + aheadMs },
    log,
  })
  onTestFinished(() => service.close())
  return service
}

const registering = async (service: TestService, account: Account) =>
  service.post(
    `${path}/register`,
    await signedRegistration(account, { endpointUrl: ENDPOINT, timestamp: nextTimestamp() + aheadMs }),
  )
const registerBoth = async (service: TestService) => {
  for (const account of [first, second])
    await register(service, chain.chainId, account, { endpointUrl: ENDPOINT })
}
async function listed(service: TestService): Promise<string[]> {
  return (await service.get(path)).body.map(({ address }: { address: string }) => address)
}
const inactive = (service: TestService) => service.metric('aggregator_solvers', { state: 'inactive' })
const untilInactive = (service: TestService, count: number) =>
  eventually(
    () => inactive(service),
    (solvers) => solvers === count,
  )

/** Removes the bonds of accounts until the test has ended. */
async function unbond(...accounts: Account[]): Promise<void> {
  for (const account of accounts) {
    await calls.send(account, 'requestUnstake', [1n])
    onTestFinished(async () => {
      const [, , unstaking] = await calls.view.solvers([account.address])
      if (unstaking > 0n) await rebond(account)
    })
  }
}
const rebond = (account: Account) => calls.send(account, 'cancelUnstake', [])

/** Waits for this many reads of bonds since the proxy last forgot its calls. */
async function untilChecked(times: number): Promise<void> {
  const isRead = ({ params }: { params?: unknown[] }) => JSON.stringify(params ?? []).includes(SOLVERS)
  await eventually(
    async () => rpc.requests().flat().filter(isRead).length,
    (count) => count >= times,
  )
}

describe('on a full chain', () => {
  it('a newcomer replaces the solver without a bond for the longest time, after the grace period only', async () => {
    const service = await start()
    await registerBoth(service)
    expect((await registering(service, newcomer)).body.code).toBe('SOLVER_LIMIT_REACHED')

    await unbond(second)
    await untilInactive(service, 1)
    aheadMs = HOUR_MS / 2
    await unbond(first)
    await untilInactive(service, 2)
    aheadMs = HOUR_MS - 60_000
    expect((await registering(service, newcomer)).body.code).toBe('SOLVER_LIMIT_REACHED')

    aheadMs = HOUR_MS + 60_000
    expect((await registering(service, newcomer)).status).toBe(200)
    expect(await listed(service)).toEqual([newcomer.address])
    expect(lines).toContainEqual(
      expect.objectContaining({
        solver: newcomer.address.toLowerCase(),
        replaced: second.address.toLowerCase(),
        msg: 'a new solver has replaced one without a bond',
      }),
    )
    expect(await inactive(service)).toBe(1)
    expect((await registering(service, latecomer)).body.code).toBe('SOLVER_LIMIT_REACHED')
    await rebond(first)
    await untilInactive(service, 0)
    expect(await listed(service)).toEqual([first.address, newcomer.address])
  })
})

describe('a registration without a bond', () => {
  it('is removed after 24 hours, however often its bond was read', async () => {
    const service = await start()
    await registerBoth(service)
    await unbond(first)
    await untilInactive(service, 1)
    aheadMs = 24 * HOUR_MS - 60_000
    rpc.forgetCalls()
    await untilChecked(6)
    expect(await inactive(service)).toBe(1)

    aheadMs = 24 * HOUR_MS + 1000
    await untilInactive(service, 0)
    expect(await listed(service)).toEqual([second.address])
    expect(lines).toContainEqual(
      expect.objectContaining({
        solver: first.address.toLowerCase(),
        msg: 'a solver was removed: no bond for 24 hours',
      }),
    )
  })

  it('is kept while the chain does not answer, and when its bond is back then', async () => {
    const service = await start()
    await registerBoth(service)
    await unbond(first)
    await untilInactive(service, 1)
    rpc.setUp(false)
    rpc.forgetCalls()
    // A check that had its answer before the outage must not see the later time.
    await untilChecked(2)
    aheadMs = 48 * HOUR_MS
    await untilChecked(6)
    expect(await inactive(service)).toBe(1)
    await rebond(first)
    rpc.setUp(true)
    await untilInactive(service, 0)
    expect(await listed(service)).toEqual([first.address, second.address])
  })
})
