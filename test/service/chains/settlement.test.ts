import { describe, expect, it } from 'vitest'
import { between } from '../../support/between.js'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { contractStruct, honest, startSolver } from '../../support/solvers/solver.js'

const OUTPUT = '2500000000'

const chain = await shared(startModelChain({ bonded: 1 }))
const calls = createCalls(chain.devnet, chain.contracts.settlement)
const [account] = solverAccounts
await calls.fund(chain.contracts.usdc, account, 10n ** 12n)
await calls.fund(chain.contracts.weth, user, 10n ** 20n)
const service = await shared(startService(chain))
const solver = await shared(
  startSolver(chain, account, honest({ output: OUTPUT, input: '400000000000000000' })),
)
await solver.register(service)

const orderTypes: [string, { orderType: string; amount: string }][] = [
  ['EXACT_INPUT', { orderType: 'EXACT_INPUT', amount: '1000000000000000000' }],
  ['EXACT_OUTPUT', { orderType: 'EXACT_OUTPUT', amount: OUTPUT }],
]

describe.each(orderTypes)('a quote for %s', (_, side) => {
  it("is accepted by the contract's deposit, under the order id of the response", async () => {
    const { body } = await service.post(`/v1/${chain.chainId}/quote`, { ...quoteRequest(chain), ...side })
    const receipt = await calls.send(user, 'deposit', [contractStruct(body.quote), body.solverSignature])
    const { timestamp } = await calls.client.getBlock({ blockHash: receipt.blockHash })

    const order = await service.get(`/v1/${chain.chainId}/order/${body.orderId}`)
    expect(order.body).toEqual({
      orderId: body.orderId,
      chainId: chain.chainId,
      state: 'DEPOSITED',
      user: body.quote.user,
      solver: body.quote.solver,
      inputToken: body.quote.inputToken,
      inputAmount: body.quote.inputAmount,
      outputToken: body.quote.outputToken,
      outputAmount: body.quote.outputAmount,
      outputChainId: chain.chainId,
      fillDeadline: body.quote.fillDeadline,
      isTerminal: false,
      isRefundable: false,
      deposited: {
        blockNumber: Number(receipt.blockNumber),
        blockTime: Number(timestamp),
        transactionHash: receipt.transactionHash,
      },
    })

    await calls.send(solverAccounts[0], 'fill', [body.orderId])
    await eventually(
      async () => (await service.get(`/v1/${chain.chainId}/order/${body.orderId}`)).body.state,
      (state) => state === 'SETTLED',
    )
  })

  it("is accepted by the contract's settle, with tokens at the deposit address of the response", async () => {
    const request = { ...quoteRequest(chain), ...side, depositMode: 'ADDRESS' }
    const { body } = await service.post(`/v1/${chain.chainId}/quote`, request)
    expect(solver.asks.at(-1)?.depositMode).toBe('ADDRESS')
    expect(await calls.view.computeDepositAddress([contractStruct(body.quote), body.solverSignature])).toBe(
      body.depositAddress,
    )

    await calls.transfer(chain.contracts.weth, user, body.depositAddress, BigInt(body.quote.inputAmount))
    const before = await calls.balanceOf(chain.contracts.usdc, user.address)
    await calls.send(solverAccounts[0], 'settle', [contractStruct(body.quote), body.solverSignature])
    const received = (await calls.balanceOf(chain.contracts.usdc, user.address)) - before
    expect(received).toBe(BigInt(body.quote.outputAmount))

    const order = await service.get(`/v1/${chain.chainId}/order/${body.orderId}`)
    expect(order.body).toMatchObject({ state: 'SETTLED', user: user.address })
  })
})

it('the requested deposit window moves both deadlines', async () => {
  const before = Date.now() / 1000
  const { body } = await service.post(`/v1/${chain.chainId}/quote`, {
    ...quoteRequest(chain),
    depositWindow: 86400,
  })
  const after = Date.now() / 1000
  expect(body.quote.depositDeadline - 86400).toEqual(between(before - 1, after + 1))
  expect(body.quote.fillDeadline - body.quote.depositDeadline).toBe(120)
})
