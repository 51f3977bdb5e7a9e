import { bondSolver } from '../../src/devnet/deploy.js'
import { BOND, startChain } from '../service/chain.js'
import { startChild } from '../service/child-process.js'
import { signedRegistration } from '../service/test-solver.js'
import { accountsFor, benchAccount } from './bench-accounts.js'
import { startBuiltService } from './built-service.js'
import { postJson } from './callers.js'
import type { FarmOptions, Habit } from './solver-farm.js'

export type Market = Awaited<ReturnType<typeof startMarket>>

/** A chain with so many bonded solvers on it that answer; each is registered where it is asked to be. */
export async function startMarket(solvers: number) {
  const chain = await startChain({ bonded: 0, extraArgs: ['--accounts', String(accountsFor(solvers))] })
  const { devnet, contracts, chainId } = chain
  for (let index = 0; index < solvers; index++) {
    await bondSolver({ ...devnet, settlement: contracts.settlement, solver: benchAccount(index) }, BOND)
  }
  const farmOptions: FarmOptions = { ...devnet, settlement: contracts.settlement, solvers }
  const farm = startTypeScript('test/bench/solver-farm.ts', JSON.stringify(farmOptions))
  const [, list = ''] = await farm.waitFor(/endpoints (.*)/)
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
    startService: (environment: Record<string, string> = {}) => startBuiltService(chain, environment),
    /** Registers the solvers of these numbers. */
    async register(url: string, from: number, to: number): Promise<void> {
      for (let index = from; index < to; index++) {
        const endpointUrl = endpoints[index] ?? ''
        const body = await signedRegistration(benchAccount(index), { endpointUrl, name: `solver ${index}` })
        await postJson(`${url}/v1/${chainId}/solvers/register`, body)
      }
    },
    /** Makes a solver wait before it answers, or never answer; `delayMs: 0` makes it as it was. */
    behave: (habit: Habit) => void farm.child.stdin.write(`${JSON.stringify(habit)}\n`),
    async stop() {
      farm.signal('SIGTERM')
      await farm.exited
      await chain.stop()
    },
  }
}

/** A script of this folder as a process. */
export function startTypeScript(path: string, ...args: string[]) {
  return startChild(process.execPath, ['--import', 'tsx', path, ...args], {})
}
