import { describe, expect, test } from 'vitest'
import { ChainStatusSchema } from '../../../gen/aggregator/v1/chain_health_pb.js'
import type { TypedDataDomain } from '../../../packages/protocol/src/settlement.js'
import type { ChainStatus } from '../../../src/chain/chain.js'
import type { BondToken } from '../../../src/chain/contract/bond-token.js'
import type { CallContext } from '../../../src/domain/client.js'
import type { Solver } from '../../../src/domain/solvers/solver.js'
import { jsonNames } from '../../../src/http/rest/proto-json.js'
import type { Method } from '../../../src/rpc/method.js'
import { createChainService, toDomainMessage } from '../../../src/rpc/services/chain-service.js'

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

const CONTRACT = '0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0'
const SALT = `0x${'ab'.repeat(32)}` as const

describe('an EIP-712 domain', () => {
  test('has exactly the members that the contract uses', () => {
    const name = 'n'.repeat(256)
    expect(toDomainMessage({ name, version: '', chainId: 2 ** 53 - 1, verifyingContract: CONTRACT })).toEqual(
      {
        name,
        version: '',
        chainId: 2n ** 53n - 1n,
        verifyingContract: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
      },
    )
    expect(toDomainMessage({ chainId: 1n, salt: SALT })).toEqual({ chainId: 1n, salt: SALT })
    expect(toDomainMessage({})).toEqual({})
  })

  test.each<[string, TypedDataDomain]>([
    ['the chain id', { name: 'A', chainId: 2n ** 53n }],
    ['the name', { name: 'n'.repeat(257), chainId: 1 }],
    ['the version', { name: 'A', version: '1'.repeat(257) }],
  ])('is absent when %s is too large', (_, domain) => {
    expect(toDomainMessage(domain)).toBeUndefined()
  })
})

test('the status of a chain has the names of /health', () => {
  const [, ...names] = jsonNames(ChainStatusSchema).values()
  expect(names).toEqual(['ok', 'syncing', 'down'])
})
