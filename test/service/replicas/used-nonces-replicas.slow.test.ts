import { expect, it } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startReplicas } from '../../support/replicas/replicas.js'
import { playRestart } from '../../support/solvers/restarted-solver.js'
import { startSolver } from '../../support/solvers/solver.js'

it('no replica of three returns a used nonce of a restarted solver again', async () => {
  const chain = await startModelChain({ bonded: 1 })
  const solver = await startSolver(chain, solverAccounts[0])
  try {
    // The second one returns the offers, the first one follows the chain.
    const { services } = await startReplicas(chain)
    const [leader, second, third] = services
    await solver.register(second)
    expect(await playRestart(chain, solver, [second, third, leader])).toEqual(Array(3).fill([2, 4, 5]))
  } finally {
    await solver.close()
    await chain.stop()
  }
})
