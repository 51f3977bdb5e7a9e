import { bondSolver } from '../packages/cli/src/devnet/deploy.js'
import { BOND, startChain, type TestChain } from '../test/support/chain/chain.js'
import { startChild } from '../test/support/process/child-process.js'
import { signedRegistration } from '../test/support/solvers/solver.js'
import { accountsFor, benchAccount } from './bench-accounts.js'
import { SERVICE_FLAGS, startBuiltService } from './built-service.js'
import { postJson } from './callers.js'
import type { Habit, SolverPoolOptions } from './solver-pool.js'

export type SolverFixture<C extends TestChain = TestChain> = Awaited<ReturnType<typeof openMarket<C>>> & {
  stop(): Promise<void>
}

/**
 * A chain with this many bonded solvers that reply. `register` adds them to a service. `stop` ends every
 * process that was started here.
 * @param prepare changes the chain before the solvers get their bonds
 */
export async function startSolverFixture<C extends TestChain = TestChain>(
  solvers: number,
  prepare: (chain: TestChain) => Promise<C> = async (chain) => chain as C,
): Promise<SolverFixture<C>> {
  const chain = await startChain({ bonded: 0, extraArgs: ['--accounts', String(accountsFor(solvers))] })
  const stops = [chain.stop]
  const stop = async () => {
    for (const stopOne of stops.splice(0).reverse()) await stopOne()
  }
  try {
    return { ...(await openMarket(await prepare(chain), solvers, stops)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function openMarket<C extends TestChain>(chain: C, solvers: number, stops: (() => Promise<unknown>)[]) {
  const { devnet, contracts, chainId } = chain
  const { settlement } = contracts
  const accounts = Array.from({ length: solvers }, (_, index) => benchAccount(index))
  await Promise.all(accounts.map((solver) => bondSolver({ ...devnet, settlement, solver }, BOND)))
  const poolOptions: SolverPoolOptions = { ...devnet, settlement, solvers }
  const pool = startTypeScript('bench/solver-pool.ts', JSON.stringify(poolOptions))
  stops.push(pool.end)
  const [, list = ''] = await pool.waitFor(/endpoints (.*)/)
  const endpoints: string[] = JSON.parse(list)

  return {
    chain,
    endpoints,
    /** A request that every solver answers. */
    quoteRequest: {
      inputToken: contracts.usdc,
      outputToken: contracts.weth,
      orderType: 'EXACT_INPUT',
      amount: '1000000000',
      userAddress: benchAccount(0).address,
      originChainId: chainId,
      destinationChainId: chainId,
      depositMode: 'CONTRACT',
      depositWindow: 600,
    },
    async startService(environment: Record<string, string> = {}) {
      const service = await startBuiltService(chain, environment)
      stops.push(service.stop)
      return service
    },
    /** Starts a server of this folder that prints its port and answers its CPU seconds at `/cpu`. */
    async startServer(path: string, options: unknown) {
      const server = startTypeScript(path, JSON.stringify(options))
      stops.push(server.end)
      const [, port] = await server.waitFor(/listening (\d+)/)
      const url = `http://127.0.0.1:${port}`
      return { url, cpuSeconds: async () => Number(await (await fetch(`${url}/cpu`)).text()) }
    },
    /** Registers the solvers with these numbers. */
    async register(url: string, from: number, to: number): Promise<void> {
      for (let index = from; index < to; index++) {
        const endpointUrl = endpoints[index] ?? ''
        const body = await signedRegistration(benchAccount(index), { endpointUrl, name: `solver ${index}` })
        await postJson(`${url}/v1/${chainId}/solvers/register`, body)
      }
    },
    /** Registers a solver with another endpoint than its own. */
    async registerAt(url: string, index: number, endpointUrl: string): Promise<void> {
      const body = await signedRegistration(benchAccount(index), { endpointUrl, name: `solver ${index}` })
      await postJson(`${url}/v1/${chainId}/solvers/register`, body)
    },
    /** Delays the replies of a solver, or stops them. `delayMs: 0` restores it. */
    behave: (habit: Habit) => void pool.child.stdin.write(`${JSON.stringify(habit)}\n`),
  }
}

/** A script of this folder as a process, with the flags of the service. */
export function startTypeScript(path: string, ...args: string[]) {
  const child = startChild(process.execPath, [...SERVICE_FLAGS, '--import', 'tsx', path, ...args], {})
  return {
    ...child,
    async end() {
      child.signal('SIGTERM')
      await child.exited
    },
  }
}
