import { ChainReadError, depositCalls, type SignedQuote } from '@quote-aggregator/client'
import {
  type Abi,
  type Address,
  createPublicClient,
  custom,
  decodeFunctionData,
  erc20Abi,
  type Hex,
  HttpRequestError,
  http,
  RpcRequestError,
  TimeoutError,
  toFunctionSelector,
} from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { createDevnetClient, mined } from '../../../packages/cli/src/devnet/deploy.js'
import { compileSource } from '../../support/chain/deploy-source.js'
import { type Fixture, INPUT_AMOUNT, startSettlement, user } from '../../support/chain/settlement.js'

let chain: Fixture
let oldToken: Address

beforeAll(async () => {
  chain = await startSettlement()
  oldToken = await compileSource('OldToken').deploy({
    rpcUrl: chain.client.transport.url ?? '',
    chainId: chain.chainId,
  })
  await chain.mint(oldToken, user.address, INPUT_AMOUNT)
  await chain.approve(chain.contracts.weth, user, 0n)
})
afterAll(() => chain?.stop())

async function offerOf(inputToken: Address): Promise<SignedQuote> {
  const { quote, ...signed } = await chain.signedQuote({ inputToken })
  return {
    ...signed,
    quote: { ...quote, orderType: 'EXACT_INPUT', outputChainId: Number(quote.outputChainId) },
  }
}

/** What the calls do, each sent as the user would. */
async function send(offer: SignedQuote, clientUrl = chain.client.transport.url): Promise<string[]> {
  const { settlement } = chain.contracts
  const client = createPublicClient({ transport: http(clientUrl) })
  const calls = await depositCalls(offer, { client, settlement })
  const done: string[] = []
  for (const { to, data, value } of calls) {
    const abi = to === settlement ? settlementAbi : erc20Abi
    const { functionName, args } = decodeFunctionData({ abi: abi as Abi, data })
    const wallet = createDevnetClient(
      { rpcUrl: chain.client.transport.url ?? '', chainId: chain.chainId },
      user,
    )
    await mined(wallet, await wallet.sendTransaction({ to, data, value, chain: null }))
    if (functionName === 'approve') expect([to, args?.[0]]).toEqual([offer.quote.inputToken, settlement])
    done.push(functionName === 'approve' ? `approve ${args?.[1]}` : functionName)
  }
  return done
}

describe.each(['a usual token', 'a token of the kind of USDT'])('the calls of a deposit of %s', (kind) => {
  const tokenOf = () => (kind === 'a usual token' ? chain.contracts.weth : oldToken)
  let snapshot: Hex

  beforeAll(async () => {
    snapshot = await chain.client.snapshot()
  })
  afterEach(async () => {
    await chain.client.revert({ id: snapshot })
    snapshot = await chain.client.snapshot()
  })

  it('approve exactly the input amount where nothing is allowed', async () => {
    const offer = await offerOf(tokenOf())
    expect(await send(offer)).toEqual([`approve ${INPUT_AMOUNT}`, 'deposit'])
    expect(await chain.view.orders([offer.orderId])).toContain(user.address)
  })

  it('approve nothing where enough is allowed', async () => {
    await chain.approve(tokenOf(), user, INPUT_AMOUNT)
    expect(await send(await offerOf(tokenOf()))).toEqual(['deposit'])
  })

  it('raise what is left of an earlier approval, over zero where the token insists', async () => {
    await chain.approve(tokenOf(), user, INPUT_AMOUNT - 1n)
    const raised = [`approve ${INPUT_AMOUNT}`, 'deposit']
    expect(await send(await offerOf(tokenOf()))).toEqual(
      kind === 'a usual token' ? raised : ['approve 0', ...raised],
    )
  })
})

/** The node of the test, which answers an approval that it does not accept in another way. */
function wordedAs(refusal: unknown) {
  const { request } = createPublicClient({ transport: http(chain.client.transport.url) })
  const approve = toFunctionSelector('approve(address,uint256)')
  return custom(
    {
      request: async (call: { method: string; params: [{ data?: Hex }] }) => {
        if (call.method === 'eth_call' && call.params[0].data?.startsWith(approve)) throw refusal
        return request(call as never)
      },
    },
    { retryCount: 0 },
  )
}

describe('the calls of a deposit where an allowance is left', () => {
  const body = { method: 'eth_call' }
  beforeAll(() => chain.approve(oldToken, user, INPUT_AMOUNT - 1n))
  const depositVia = async (transport: ReturnType<typeof wordedAs>) => {
    const client = createPublicClient({ transport })
    return depositCalls(await offerOf(oldToken), { client, settlement: chain.contracts.settlement })
  }

  it.each([
    { code: -32015, message: 'VM execution error.' },
    { code: -32000, message: 'VM Exception while processing transaction' },
    { code: -32603, message: 'Internal error' },
    { code: 3, message: 'execution reverted' },
    { code: -32005, message: 'limit exceeded' },
  ])('set it to zero first when the node answers an approval with %j', async (error) => {
    const calls = await depositVia(wordedAs(new RpcRequestError({ body, error, url: 'http://node' })))
    expect(calls).toHaveLength(3)
  })

  it.each([
    ['a lost connection', new HttpRequestError({ body, url: 'http://node', details: 'fetch failed' })],
    ['a status without an answer', new HttpRequestError({ body, url: 'http://node', status: 502 })],
    ['a time-out', new TimeoutError({ body, url: 'http://node' })],
    ['a wallet without a connection', Object.assign(new Error('disconnected'), { code: 4900 })],
    ['a failure of the transport', new TypeError('Failed to fetch')],
  ])('are not made after %s', async (_name, error) => {
    await expect(depositVia(wordedAs(error))).rejects.toThrow()
  })
})

it('a node that does not answer is an error, and no reason to reset an allowance', async () => {
  const offer = await offerOf(oldToken)
  await expect(send(offer, 'http://127.0.0.1:9')).rejects.toThrow(ChainReadError)
})
