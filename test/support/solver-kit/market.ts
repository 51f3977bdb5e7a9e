import { bytesToHex, type Hex } from 'viem'
import { expect, onTestFinished } from 'vitest'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import type { DevAccount } from '../../../packages/cli/src/devnet/deploy.js'
import { createSolver } from '../../../packages/solver/src/create-solver.js'
import type { SolverOptions } from '../../../packages/solver/src/solver-options.js'
import { solverAccounts, startChain, user } from '../chain/chain.js'
import { createCalls } from '../chain/contract-calls.js'
import { OrderState } from '../chain/signed-quote.js'
import { eventually } from '../eventually.js'
import { startService } from '../service/service.js'
import { contractStruct, type WireQuote } from '../solvers/solver.js'
import { fixedPrice, WETH_UNIT } from './fixed-price.js'

const INVENTORY = 1_000_000_000_000n

/** The best offer, as the service answers it. */
export interface Offer {
  readonly quote: WireQuote
  readonly solverSignature: Hex
  readonly orderId: Hex
  readonly depositAddress: Hex
}

export type Market = Awaited<ReturnType<typeof startMarket>>

/** The private key of a development account. */
export function keyOf(account: DevAccount): Hex {
  return bytesToHex(account.getHdKey().privateKey ?? new Uint8Array())
}

/** A chain, a service that polls it often, a user with WETH, and solvers with bonds and USDC that a test starts. */
export async function startMarket() {
  const chain = await startChain({ bonded: 4, rules: 'reference' })
  const { contracts, chainId, devnet } = chain
  const calls = createCalls(devnet, contracts.settlement)
  for (const account of solverAccounts.slice(0, 4))
    await calls.mint(contracts.usdc, account.address, INVENTORY)
  await calls.mint(contracts.weth, user.address, 1_000n * WETH_UNIT)
  await calls.approve(contracts.weth, user, 2n ** 256n - 1n)
  const service = await startService(chain)

  /** Everything that a solver of this market needs, as JSON has it but for `quote`. */
  function solverOptions(account: DevAccount = solverAccounts[0]) {
    const { settlement, weth, usdc } = contracts
    const terms = { rpc: devnet.rpcUrl, settlement, tokens: [weth, usdc], pollIntervalMs: 50 }
    return {
      account: keyOf(account),
      name: 'Dora',
      aggregatorUrl: service.url,
      chains: { [chainId]: terms },
    }
  }

  async function ask(terms: Record<string, unknown> = {}) {
    const { weth: inputToken, usdc: outputToken } = contracts
    const swap = { inputToken, outputToken, orderType: 'EXACT_INPUT', amount: String(WETH_UNIT) }
    const chains = { originChainId: chainId, destinationChainId: chainId }
    const body = { ...swap, ...chains, userAddress: user.address, depositMode: 'CONTRACT', ...terms }
    return service.post(`/v1/${chainId}/quote`, body)
  }

  return {
    chain,
    calls,
    service,
    solverOptions,
    ask,
    /** A solver that is closed after the test, and what its callbacks were called with. */
    solver(options: Partial<SolverOptions> = {}, account?: DevAccount) {
      const errors: unknown[] = []
      const filled: string[] = []
      const solver = createSolver({
        ...solverOptions(account),
        quote: fixedPrice,
        onError: (error) => errors.push(error),
        onFilled: ({ orderId }) => filled.push(orderId),
        ...options,
      })
      onTestFinished(() => solver.close())
      return { ...solver, errors, filled }
    },
    /** The best offer. It expects one. */
    async quote(terms: Record<string, unknown> = {}): Promise<Offer> {
      const { status, body } = await ask(terms)
      expect(status, JSON.stringify(body)).toBe(200)
      return body
    },
    deposit: ({ quote, solverSignature }: Offer) =>
      calls.send(user, 'deposit', [contractStruct(quote), solverSignature]),
    payAddress: ({ quote, depositAddress }: Offer) =>
      calls.transfer(contracts.weth, user, depositAddress, BigInt(quote.inputAmount)),
    /** Waits until an order is paid, and reads how often the chain says so. */
    async settlements(orderId: Hex): Promise<number> {
      await eventually(
        async () => (await calls.view.orders([orderId]))[8],
        (state) => state === OrderState.SETTLED,
      )
      const event = settlementAbi.find((item) => item.type === 'event' && item.name === 'Settled')
      if (event?.type !== 'event') throw new Error('the contract has no such event')
      const range = { address: contracts.settlement, fromBlock: 0n, event, args: { orderId } } as const
      return (await calls.client.getLogs(range as never)).length
    },
    async close() {
      await service.close()
      await chain.stop()
    },
  }
}
