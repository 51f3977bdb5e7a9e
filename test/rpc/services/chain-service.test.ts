import { expect, test } from 'vitest'
import type { ChainStatus } from '../../../src/chain/chain.js'
import type { BondToken } from '../../../src/chain/contract/bond-token.js'
import type { CallContext } from '../../../src/domain/client.js'
import type { Solver } from '../../../src/domain/solvers/solver.js'
import type { Method } from '../../../src/rpc/method.js'
import { createChainService } from '../../../src/rpc/services/chain-service.js'

const SETTLEMENT = `0x${'11'.repeat(20)}` as const

const CONFIG = {
  protocolName: 'Service',
  minSolverBond: 1n,
  defaultDepositWindowSeconds: 300,
  defaultFillWindowSeconds: 120,
  quoteTimeoutMs: 2000,
  quoteSoftTimeoutMs: 0,
  maxQuoteFanOut: 10,
  verifyMax: 'best' as const,
  chains: [1, 2].map((chainId) => ({ chainId, settlement: SETTLEMENT, destinationChains: [chainId] })),
}

/** The service over two chains whose values the test sets. */
function createFixture() {
  const states = [1, 2].map((chainId) => ({
    status: { chainId, status: 'ok', headBlock: 7, eventBlock: 7, lagMs: 1 } as ChainStatus,
    bondToken: undefined as BondToken | undefined,
    solvers: [] as readonly Solver[],
  })) as [State, State]
  const chains = new Map(
    [...states.entries()].map(([index, state]) => [
      index + 1,
      {
        status: () => ({ ...state.status }),
        quoteTypedData: () => undefined,
        bondToken: () => state.bondToken,
      },
    ]),
  )
  const directory = { active: (chainId: number) => states[chainId - 1]?.solvers ?? [] }
  const [listChains] = createChainService({ config: CONFIG, chains, directory }) as [Method]
  const list = async () => (await listChains.handle(undefined, {} as CallContext)) as { chains: object[] }
  return { states, list }
}

interface State {
  status: ChainStatus
  bondToken: BondToken | undefined
  solvers: readonly Solver[]
}

test('each response has what is true at its time', async () => {
  const { states, list } = createFixture()
  expect((await list()).chains).toMatchObject([{ headBlock: 7n }, { headBlock: 7n }])
  states[0].status = { ...states[0].status, headBlock: 8 }
  expect((await list()).chains).toMatchObject([{ headBlock: 8n }, { headBlock: 7n }])

  states[1].bondToken = { address: SETTLEMENT, symbol: 'USDC', decimals: undefined }
  states[1].solvers = [{} as Solver]
  const token = { address: SETTLEMENT, symbol: 'USDC' }
  expect((await list()).chains).toMatchObject([{ headBlock: 8n }, { bondToken: token, activeSolvers: 1 }])
})

test.each([2 ** 53, Number.NaN, -1, 1.5])(
  'a head that is no block number is absent: %d',
  async (headBlock) => {
    const { states, list } = createFixture()
    states[0].status = { ...states[0].status, headBlock }
    expect((await list()).chains[0]).toMatchObject({ headBlock: undefined })
  },
)
