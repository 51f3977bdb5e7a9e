import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { BOND, solverAccounts, startChain, type TestChain } from '../support/chain/chain.js'
import { createCalls } from '../support/chain/contract-calls.js'
import { databases } from '../support/databases/service-databases.js'
import { eventually } from '../support/eventually.js'
import { startRpcProxy } from '../support/faults/rpc-proxy.js'
import { openReplicas } from '../support/replicas/replicas.js'
import { startService, type TestService } from '../support/service/service.js'
import { quoteRequest } from '../support/solvers/quote-request.js'
import { honest, signedUnregistration, startSolver, type TestSolver } from '../support/solvers/solver.js'

const [account, otherAccount] = solverAccounts
/** `solvers(address)` */
const SOLVERS = '0x57f58d98'

let chain: TestChain
let calls: ReturnType<typeof createCalls>
let solver: TestSolver
let other: TestSolver

beforeAll(async () => {
  chain = await startChain({ bonded: 2 })
  calls = createCalls(chain.devnet, chain.contracts.settlement)
  solver = await startSolver(chain, account)
  other = await startSolver(chain, otherAccount)
  // 5% of it is the whole bond.
  for (const each of [solver, other]) each.behave(honest({ output: `${BOND * 20n}` }))
})
afterAll(async () => {
  await solver?.close()
  await other?.close()
  await chain?.stop()
})

/** Waits until exactly these solvers give a valid offer. */
const untilOffered = (service: TestService, ...solvers: TestSolver[]) =>
  eventually(
    async () => (await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))).body,
    ({ quote, alternativeQuotes = [] }) => {
      const offers = quote === undefined ? [] : [{ quote }, ...alternativeQuotes]
      const got = offers.map((offer) => (offer.quote ?? offer).solver.toLowerCase()).sort()
      return (
        got.join() ===
        solvers
          .map((each) => each.account.address.toLowerCase())
          .sort()
          .join()
      )
    },
  )

/**
 * Drops what is written to the table of free bonds, as a version would not write there that does not know it.
 */
async function ignoreStoredBonds(url: string) {
  const database = new pg.Client(url)
  await database.connect()
  await database.query(`
    create function ignore_bond() returns trigger language plpgsql as 'begin return null; end';
    create trigger ignore_bond before insert or update on solver_bonds for each row execute function ignore_bond()`)
  return {
    stop: () => database.query('drop trigger ignore_bond on solver_bonds'),
    close: () => database.end(),
  }
}

describe('a follower replica of a leader that stores no free bond', () => {
  async function startBoth() {
    const replicas = await openReplicas(chain)
    const first = await replicas.start({ MIN_SOLVER_BOND: '1' })
    const ignored = replicas.closing(await ignoreStoredBonds(replicas.databaseUrl))
    await solver.register(first)
    await untilOffered(first, solver)
    const rpc = replicas.closing(await startRpcProxy(chain.devnet.rpcUrl))
    const lines: { msg: string; level: number }[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
    const startSecond = async (environment: Record<string, string> = {}) => {
      const service = await startService(
        chain,
        {
          DATABASE_URL: replicas.databaseUrl,
          MIN_SOLVER_BOND: '1',
          [`RPC_URL_${chain.chainId}`]: rpc.url,
          [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
          ...environment,
        },
        { log },
      )
      return replicas.closing(service)
    }
    const warnings = () => lines.filter(({ msg }) => msg.includes('free bond is unknown'))
    return { first, ignored, rpc, startSecond, warnings }
  }

  it('reads free bonds itself, also of a solver that registers later', async () => {
    const { first, startSecond } = await startBoth()
    const second = await startSecond()
    await untilOffered(second, solver)
    await other.register(first)
    await untilOffered(second, solver, other)
  })

  it('tries again until the chain answers, and warns once', async () => {
    const { rpc, startSecond, warnings } = await startBoth()
    rpc.revert(SOLVERS)
    const second = await startSecond()
    await untilOffered(second)
    await eventually(
      async () => warnings().length,
      (count) => count > 0,
    )
    rpc.forgetCalls()
    await eventually(
      async () => {
        await untilOffered(second)
        return rpc.count('eth_call')
      },
      (count) => count >= 2,
    )
    rpc.intercept()
    await untilOffered(second, solver)
    expect(warnings()).toHaveLength(1)
  })

  it('reads free bonds again at each check, and prefers a stored one', async () => {
    const { first, ignored, startSecond } = await startBoth()
    const second = await startSecond({ BOND_CHECK_INTERVAL_MS: '100' })
    await untilOffered(second, solver)
    await calls.send(account, 'requestUnstake', [1n])
    await untilOffered(second)
    await calls.send(account, 'cancelUnstake', [])
    for (const service of [first, second]) await untilOffered(service, solver)

    await ignored.stop()
    await calls.send(account, 'requestUnstake', [1n])
    for (const service of [first, second]) await untilOffered(service)
    await calls.send(account, 'cancelUnstake', [])
    for (const service of [first, second]) await untilOffered(service, solver)
  })
})

describe.each(databases)('a service on %s', (kind, make) => {
  it('asks a solver that registers again at once, although other solvers have changed since', async () => {
    const { environment, drop } = await make()
    onTestFinished(drop)
    const rpc = await startRpcProxy(chain.devnet.rpcUrl)
    onTestFinished(() => rpc.close())
    const services: TestService[] = []
    onTestFinished(async () => {
      for (const service of services.toReversed()) await service.close()
    })
    for (let count = kind === 'SQLite' ? 1 : 2; count > 0; count--) {
      const service = await startService(chain, {
        ...environment,
        MIN_SOLVER_BOND: '1',
        [`RPC_URL_${chain.chainId}`]: rpc.url,
        [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
      })
      services.push(service)
    }
    const last = services.at(-1) as TestService
    for (const each of [solver, other]) await each.register(last)
    for (const service of services) await untilOffered(service, solver, other)

    const path = `/v1/${chain.chainId}/solvers/${account.address}`
    expect((await last.delete(path, await signedUnregistration(account))).status).toBe(200)
    await calls.send(otherAccount, 'requestUnstake', [1n])
    for (const service of services) await untilOffered(service)
    let reads = 0
    rpc.intercept(async (call, pass) => {
      const isRead = JSON.stringify(call.params ?? '').includes(SOLVERS)
      return isRead && reads++ > 0 ? { error: { code: -32000, message: 'busy' } } : pass()
    })
    await solver.register(last)
    for (const service of services) await untilOffered(service, solver)
    rpc.intercept()
    await calls.send(otherAccount, 'cancelUnstake', [])
    for (const service of services) await untilOffered(service, solver, other)
  })
})
