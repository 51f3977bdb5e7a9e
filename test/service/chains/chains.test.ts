import { afterEach, describe, expect, it } from 'vitest'
import { solverAccounts, type TestChain } from '../../support/chain/chain.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { createGrpcClient } from '../../support/clients/grpc-client.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { openReplicas } from '../../support/replicas/replicas.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { startSolver } from '../../support/solvers/solver.js'

const SETTINGS = {
  PROTOCOL_NAME: 'Service',
  MIN_SOLVER_BOND: '5000000',
  DEFAULT_DEPOSIT_WINDOW: '240',
  DEFAULT_FILL_WINDOW: '90',
  QUOTE_TIMEOUT_MS: '1500',
  QUOTE_SOFT_TIMEOUT_MS: '400',
  MAX_QUOTE_FAN_OUT: '7',
  VERIFY_MAX: 'all',
  DESTINATION_CHAINS_31337: '8453,10',
}

let service: TestService

const chains = await Promise.all([
  shared(startModelChain({ bonded: 1 })),
  shared(startModelChain({ chainId: 31338, bonded: 0 })),
])
const traffic = await createTraffic(chains[0], { seed: 61 })
const solver = await shared(startSolver(chains[0], solverAccounts[0]))

afterEach(() => service?.close())

async function start(environment: Record<string, string> = {}) {
  service = await startService(chains, { ...SETTINGS, ...environment })
}

type Listed = Record<string, unknown> & {
  chainId: number
  headBlock?: number
  bondToken?: { symbol?: string; decimals?: number }
}

const list = async (on = service): Promise<Listed[]> => (await on.get('/v1/chains')).body.chains
/** A token that was read in part is complete a second later. */
const hasToken = ({ bondToken }: Listed) =>
  bondToken?.decimals !== undefined && bondToken.symbol !== undefined
const untilTokens = () => eventually(list, (listed) => listed.every(hasToken))
const healthOf = async () => (await service.get('/health')).body.chains

/** As the list of chains in viem has them, or as an unknown chain is named. */
const NAMES: Readonly<Record<number, string>> = { 31337: 'Anvil', 31338: 'Chain 31338' }

/** What does not change while the service runs, as soon as the contract has been read. */
function described({ chainId, contracts, domain }: TestChain, destinationChainIds: readonly number[]) {
  return {
    chainId,
    name: NAMES[chainId],
    settlement: contracts.settlement,
    protocolName: 'Service',
    domain,
    bondToken: { address: contracts.bondToken, symbol: 'bUSD', decimals: 6 },
    bondReservationBps: 500,
    missCosts: [],
    minimumBond: '5000000',
    destinationChainIds,
    defaultDepositWindow: 240,
    fillWindow: 90,
    quoteTimeoutMs: 1500,
    quoteSoftTimeoutMs: 400,
    maxQuoteFanOut: 7,
    verifyMax: 'all',
  }
}

describe('two chains', () => {
  it('are described in the order of the configuration, with their heads and active solvers', async () => {
    await start()
    await solver.register(service, 'Listed')
    await untilTokens()
    const heads = (await healthOf()).map(({ headBlock }: Listed) => headBlock)
    expect(heads[0]).toBe((await traffic.head()).number)
    const { status, body } = await service.get('/v1/chains')
    expect(status).toBe(200)
    expect(body).toEqual({
      chains: [
        { ...described(chains[0], [31337, 8453, 10]), status: 'ok', headBlock: heads[0], activeSolvers: 1 },
        { ...described(chains[1], [31338]), status: 'ok', headBlock: heads[1], activeSolvers: 0 },
      ],
    })
  })

  it('are the same over REST and gRPC with a client that knows only the .proto files', async () => {
    await start()
    const rest = await untilTokens()
    const grpc = createGrpcClient(service.url)
    const { chains: listed } = await grpc.call('ChainService', 'ListChains', {})
    grpc.close()
    expect(listed.map((chain: Listed) => chain.status)).toEqual(['CHAIN_STATUS_OK', 'CHAIN_STATUS_OK'])
    expect(listed.map((chain: Listed) => chain.verifyMax)).toEqual(['VERIFY_MODE_ALL', 'VERIFY_MODE_ALL'])
    for (const [index, { status: _status, verifyMax: _most, ...fields }] of rest.entries())
      expect(listed[index]).toMatchObject(fields)
  })
})

it('a follower replica describes the chain as the leader does', async () => {
  const [chain] = chains
  const replicas = await openReplicas(chain)
  const [leader, follower] = [await replicas.start(SETTINGS), await replicas.start(SETTINGS)]
  expect(await follower.metric('aggregator_chain_leader', {})).toBe(0)
  const lists = async () => [await list(leader), await list(follower)]
  const { number } = await traffic.head()
  const [first, second] = await eventually(lists, (both) =>
    both.flat().every((listed) => hasToken(listed) && listed.headBlock === number && listed.status === 'ok'),
  )
  expect(second).toEqual(first)
  expect(second).toMatchObject([described(chain, [31337, 8453, 10])])
})
