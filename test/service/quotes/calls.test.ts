import {
  type Address,
  createWalletClient,
  decodeFunctionData,
  type Hex,
  http,
  parseAbi,
  publicActions,
} from 'viem'
import { describe, expect, it } from 'vitest'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, startSolver } from '../../support/solvers/solver.js'

/** The functions as docs/protocol.md and ERC-20 describe them. */
const ABI = parseAbi([
  'struct SettlementQuote { address solver; address user; address inputToken; uint256 inputAmount; address outputToken; uint256 outputAmount; uint8 orderType; uint256 outputChainId; uint32 depositDeadline; uint32 fillDeadline; uint256 nonce; }',
  'function approve(address spender, uint256 amount) returns (bool)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function deposit(SettlementQuote quote, bytes signature)',
  'function balanceOf(address owner) view returns (uint256)',
])

interface Call {
  readonly to: Address
  readonly data: Hex
  readonly value: Hex
}

const chain = await shared(startModelChain({ bonded: 2 }))
const service = await shared(startService(chain, { [`POLL_INTERVAL_MS_${chain.chainId}`]: '50' }))
const solvers = await Promise.all(
  solverAccounts
    .slice(0, 2)
    .map((account, index) => shared(startSolver(chain, account, honest({ output: `${1000 - index}` })))),
)
for (const solver of solvers) await solver.register(service)
await createCalls(chain.devnet, chain.contracts.settlement).mint(
  chain.contracts.weth,
  user.address,
  10n ** 20n,
)

/** Asks for a quote over REST. */
async function ask(changes: object) {
  const { body } = await service.post(`/v1/${chain.chainId}/quote`, { ...quoteRequest(chain), ...changes })
  return body
}

/** The user's wallet: it knows calls, and nothing of an aggregator. */
function openWallet() {
  const transport = http(chain.devnet.rpcUrl)
  return createWalletClient({ account: user, transport, pollingInterval: 20 }).extend(publicActions)
}

async function sendAll(calls: readonly Call[]): Promise<void> {
  const wallet = openWallet()
  for (const { to, data, value } of calls) {
    const hash = await wallet.sendTransaction({ to, data, value: BigInt(value), chain: null })
    const { status } = await wallet.waitForTransactionReceipt({ hash })
    expect(status).toBe('success')
  }
}

describe('an offer with calls', () => {
  it('has the approval of the input, then the deposit, which the contract takes', async () => {
    const { quote, solverSignature, orderId, calls, approval } = await ask({ includeCalls: true })
    const { settlement, weth } = chain.contracts

    expect(approval).toEqual({ token: weth, spender: settlement, amount: quote.inputAmount })
    expect(calls.map(({ to, value }: Call) => ({ to, value }))).toEqual([
      { to: weth, value: '0x0' },
      { to: settlement, value: '0x0' },
    ])
    const [approve, deposit] = calls.map(({ data }: Call) => decodeFunctionData({ abi: ABI, data }))
    expect(approve).toEqual({ functionName: 'approve', args: [settlement, BigInt(quote.inputAmount)] })
    const deposited = {
      ...quote,
      inputAmount: BigInt(quote.inputAmount),
      outputAmount: BigInt(quote.outputAmount),
      outputChainId: BigInt(quote.outputChainId),
      nonce: BigInt(quote.nonce),
    }
    expect(deposit).toEqual({ functionName: 'deposit', args: [deposited, solverSignature] })

    await sendAll(calls)
    const { body: order } = await service.get(`/v1/${chain.chainId}/order/${orderId}`)
    expect(order).toMatchObject({ state: 'DEPOSITED', inputAmount: quote.inputAmount, user: user.address })
  })

  it('has one transfer to its deposit address in mode ADDRESS', async () => {
    const { quote, depositAddress, calls, approval } = await ask({
      includeCalls: true,
      depositMode: 'ADDRESS',
    })
    const { weth } = chain.contracts

    expect(approval).toBeUndefined()
    expect(calls).toHaveLength(1)
    expect(calls[0]).toMatchObject({ to: weth, value: '0x0' })
    expect(decodeFunctionData({ abi: ABI, data: calls[0].data })).toEqual({
      functionName: 'transfer',
      args: [depositAddress, BigInt(quote.inputAmount)],
    })

    await sendAll(calls)
    const balance = { address: weth, abi: ABI, functionName: 'balanceOf', args: [depositAddress] } as const
    expect(await openWallet().readContract(balance)).toBe(BigInt(quote.inputAmount))
  })
})
