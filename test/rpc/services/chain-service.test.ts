import { describe, expect, test } from 'vitest'
import { ChainStatusSchema } from '../../../gen/aggregator/v1/chain_health_pb.js'
import type { TypedDataDomain } from '../../../packages/protocol/src/settlement/settlement.js'
import type { Solver } from '../../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { ChainStatus } from '../../../src/chain/chain.js'
import type { BondToken } from '../../../src/chain/tokens/bond-token.js'
import type { PairSummary, TokenSummary } from '../../../src/chain/tokens/recent-trades.js'
import type { TokenMetadata } from '../../../src/chain/tokens/token-reader.js'
import type { CallContext } from '../../../src/clients/call.js'
import { jsonNames } from '../../../src/http/rest/proto-json.js'
import type { Method } from '../../../src/rpc/method.js'
import { createChainService, toDomainMessage } from '../../../src/rpc/services/chain-service.js'
import type { ServiceContext } from '../../../src/rpc/services/context.js'
import { only } from '../../support/only.js'

const SETTLEMENT = `0x${'11'.repeat(20)}` as const

const LISTED = [
  ['USDC', 6],
  ['WBTC', 8],
  ['WETH', 18],
  ['ONE', 0],
].map(([symbol, decimals], index) => {
  const address: Address = `0x${String(index + 1).padStart(40, '0')}`
  return { address, symbol: String(symbol), decimals: Number(decimals), logo: undefined }
})

const CONFIG = {
  protocolName: 'Service',
  minSolverBond: 1n,
  defaultDepositWindowSeconds: 300,
  defaultFillWindowSeconds: 120,
  quoteTimeoutMs: 2000,
  quoteSoftTimeoutMs: 0,
  maxQuoteFanOut: 10,
  verifyMax: 'best' as const,
  chains: [1, 2].map((chainId) => ({
    chainId,
    settlement: SETTLEMENT,
    destinationChains: [chainId],
    name: `Chain ${chainId}`,
    explorerUrl: chainId === 1 ? 'https://explorer.example' : undefined,
    tokenList: new Map(LISTED.map((token) => [token.address, token])),
  })),
}

/** The service over two chains whose values the test sets. */
function createFixture() {
  const states = [1, 2].map((chainId) => ({
    status: { chainId, status: 'ok', headBlock: 7, eventBlock: 7, lagMs: 1 } as ChainStatus,
    bondToken: undefined as BondToken | undefined,
    solvers: [] as readonly Solver[],
    tokens: [] as readonly TokenSummary[],
    pairs: [] as readonly PairSummary[],
    described: [] as readonly (readonly Address[])[],
  })) as [State, State]
  const chains = new Map(
    [...states.entries()].map(([index, state]) => [
      index + 1,
      {
        status: () => ({ ...state.status }),
        quoteTypedData: () => undefined,
        bondToken: () => state.bondToken,
        bondReservationBps: () => 500,
        describeTokens(tokens: readonly Address[]): readonly TokenMetadata[] {
          state.described = [...state.described, tokens]
          return tokens.map((token) => ({ symbol: `S${token.at(-1)}`, decimals: undefined }))
        },
      },
    ]),
  )
  const directory = { active: (chainId: number) => states[chainId - 1]?.solvers ?? [] }
  const trades = {
    tokens: async (chainId: number) => states[chainId - 1]?.tokens ?? [],
    pairs: async (chainId: number) => states[chainId - 1]?.pairs ?? [],
  }
  const methods = createChainService(
    only<ServiceContext>({
      config: CONFIG,
      chains,
      directory,
      trades,
    }),
  )
  const [listChains, listTokens, listPairs] = methods as [Method, Method, Method]
  const call = {} as CallContext
  const list = async () => (await listChains.handle(undefined, call)) as { chains: object[] }
  const tokens = async (chainId: number) => (await listTokens.handle(chainId, call)) as { tokens: object[] }
  const pairs = async (chainId: number) => (await listPairs.handle(chainId, call)) as { pairs: object[] }
  return { states, list, tokens, pairs }
}

interface State {
  status: ChainStatus
  bondToken: BondToken | undefined
  solvers: readonly Solver[]
  tokens: readonly TokenSummary[]
  pairs: readonly PairSummary[]
  described: readonly (readonly Address[])[]
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

test('what a miss of each listed token costs is exact, in the unit of the bond, and absent without a bond token', async () => {
  const { states, list } = createFixture()
  expect((await list()).chains[0]).toMatchObject({ missCosts: undefined })
  states[0].bondToken = { address: SETTLEMENT, symbol: 'bUSD', decimals: 6 }
  const missCosts = [
    { symbol: 'USDC', bond: '50000' },
    { symbol: 'WBTC', bond: '5000000' },
    { symbol: 'WETH', bond: '50000000000000000' },
    { symbol: 'ONE', bond: '0' },
  ]
  expect((await list()).chains[0]).toMatchObject({ missCosts })
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

test('a chain has a name, and an explorer when one is known', async () => {
  const { list } = createFixture()
  expect((await list()).chains).toMatchObject([
    { name: 'Chain 1', explorerUrl: 'https://explorer.example' },
    { name: 'Chain 2', explorerUrl: undefined },
  ])
})

describe('a token', () => {
  const [one, two] = [`0x${'0'.repeat(39)}1`, `0x${'0'.repeat(39)}2`] as const
  const logo = { name: '0a1b2c3d4e5f6071.svg', type: 'image/svg+xml', content: Buffer.from('') }

  test('has what the operator says of it, and only other ones are read from the chain', async () => {
    const { states, tokens } = createFixture()
    const listed = { address: one, symbol: 'USDC', decimals: 6, logo }
    states[0].tokens = [
      { address: one, listed },
      { address: two, listed: undefined, orders24h: 3, users24h: 2, lastUsed: 1_800_000_000 },
    ]
    expect(await tokens(1)).toEqual({
      tokens: [
        {
          address: one,
          symbol: 'USDC',
          decimals: 6,
          listed: true,
          logo: '/logos/0a1b2c3d4e5f6071.svg',
          orders24h: 0,
          lastUsed: undefined,
        },
        {
          address: two,
          symbol: 'S2',
          decimals: undefined,
          listed: false,
          logo: undefined,
          orders24h: 3,
          lastUsed: 1_800_000_000n,
        },
      ],
    })
    expect(states[0].described).toEqual([[two]])
  })

  test('is in pairs with volumes as decimal text and addresses in EIP-55 form', async () => {
    const { states, pairs } = createFixture()
    const pair = {
      inputToken: CONTRACT,
      outputToken: two,
      destinationChainId: 2,
      listed: true,
      orders24h: 1,
      users24h: 1,
      inputVolume24h: 2n ** 256n,
      outputVolume24h: 0n,
      medianFillMs24h: 1500,
      lastUsed: 1_800_000_000,
    } as const
    states[0].pairs = [pair, { ...pair, medianFillMs24h: undefined }]
    const message = {
      inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
      outputToken: two,
      destinationChainId: 2n,
      listed: true,
      orders24h: 1,
      inputVolume24h: (2n ** 256n).toString(),
      outputVolume24h: '0',
      medianFillMs24h: 1500n,
      lastUsed: 1_800_000_000n,
    }
    expect(await pairs(1)).toEqual({ pairs: [message, { ...message, medianFillMs24h: undefined }] })
  })
})
