import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { BOND, solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { databases } from '../../support/databases/service-databases.js'
import { eventually } from '../../support/eventually.js'
import { startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startService, type TestService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, signedUnregistration, startSolver, type TestSolver } from '../../support/solvers/solver.js'

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
    // The registration reads the bond before and after it tries the endpoint. What is read later fails.
    let reads = 0
    rpc.intercept(async (call, pass) => {
      const isRead = JSON.stringify(call.params ?? '').includes(SOLVERS)
      return isRead && reads++ >= 2 ? { error: { code: -32000, message: 'busy' } } : pass()
    })
    await solver.register(last)
    for (const service of services) await untilOffered(service, solver)
    rpc.intercept()
    await calls.send(otherAccount, 'cancelUnstake', [])
    for (const service of services) await untilOffered(service, solver, other)
  })
})
