import {
  type AggregatorClient,
  createAggregatorClient,
  limitsOf,
  readSettlement,
  verifyQuote,
} from '@quote-aggregator/client'
import { createPublicClient, http } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { between } from '../../support/between.js'
import { solverAccounts, startChain, type TestChain, user } from '../../support/chain/chain.js'
import { commandLine } from '../../support/process/command-line.js'
import { startService, type TestService } from '../../support/service/service.js'
import { honest, startSolver, type TestSolver } from '../../support/solvers/solver.js'

const [account] = solverAccounts

let chain: TestChain
let service: TestService
let solver: TestSolver
let client: AggregatorClient

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
  service = await startService(chain)
  solver = await startSolver(chain, account, honest({ output: '2500' }))
  await solver.register(service, 'Ada')
  solver.behaveInChecks(honest({ output: '2500' }))
  client = createAggregatorClient({ baseUrl: service.url })
})

afterAll(async () => {
  await service?.close()
  await solver?.close()
  await chain?.stop()
})

const swap = () => ({
  chainId: chain.chainId,
  inputToken: chain.contracts.weth,
  outputToken: chain.contracts.usdc,
  orderType: 'EXACT_INPUT' as const,
  amount: 10n ** 18n,
})

describe('a price', () => {
  it('says what a swap would give, and who says it', async () => {
    const before = Date.now()
    const { best, offers, asOf } = await client.getPrice(swap())
    expect(best).toEqual({
      ...{ solver: account.address, name: 'Ada' },
      ...{ inputAmount: 10n ** 18n, outputAmount: 2500n },
    })
    expect(offers).toBe(1)
    expect(asOf).toEqual(between(before, Date.now()))
  })

  it('is refused for a chain that is not served', async () => {
    const price = client.getPrice({ ...swap(), chainId: 5 })
    await expect(price).rejects.toMatchObject({ reason: 'CHAIN_NOT_SUPPORTED', httpStatus: 404 })
  })
})

describe('the chains of an instance', () => {
  it('have the contract and the limits of quotes', async () => {
    const [served, ...others] = await client.listChains()
    expect(others).toEqual([])
    expect(served).toMatchObject({
      ...{ chainId: chain.chainId, settlement: chain.contracts.settlement, protocolName: 'Service' },
      ...{ status: 'ok', activeSolvers: 1, destinationChainIds: [chain.chainId] },
      ...{ defaultDepositWindow: 300, quoteTimeoutMs: 20_000, quoteSoftTimeoutMs: 0, maxQuoteFanOut: 10 },
    })
    expect(served?.headBlock).toBeGreaterThan(0)
  })

  it('name the contract for an app that trusts the instance', async () => {
    const node = createPublicClient({ transport: http(chain.devnet.rpcUrl) })
    const terms = await readSettlement(node, { trustInstance: true, aggregator: client })
    expect({ ...terms, client: undefined }).toEqual({
      ...(await readSettlement(node, chain.contracts.settlement)),
      client: undefined,
    })
    const params = { ...swap(), user: user.address, depositMode: 'CONTRACT' } as const
    const { best } = await client.getQuote(params)
    await verifyQuote(best, { ...terms, params, limits: limitsOf(best.quote) })
  })
})

describe('the command line', () => {
  const cli = (...argv: string[]) => commandLine([...argv, '--url', service.url, '--json'])

  it('shows a price', async () => {
    const { chainId, inputToken, outputToken, amount } = swap()
    const pair = ['--sell', inputToken, '--buy', outputToken, '--amount', String(amount)]
    const { code, stdout } = await cli('price', '--chain', String(chainId), ...pair)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ best: { name: 'Ada', outputAmount: '2500' }, offers: 1 })
  })

  it('lists the chains', async () => {
    const { code, stdout } = await cli('chains')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject([
      { chainId: chain.chainId, settlement: chain.contracts.settlement },
    ])
  })
})
