import type { SignedQuote } from '@quote-aggregator/client'
import { BaseError, type ContractFunctionArgs, ContractFunctionRevertedError } from 'viem'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { testTokenAbi } from '../../../gen/contracts/test-token.js'
import type { DevAccount } from '../../../packages/cli/src/devnet/deploy.js'
import type { Bond } from '../../../packages/protocol/src/solvers/solver.js'
import { contractStruct, type WireReply } from '../solvers/solver.js'
import { type TestChain, user } from './chain.js'
import { createCalls } from './contract-calls.js'
import { orderIdOf, signQuote } from './signed-quote.js'

/**
 * Changes the state on which the contract decides. `share` is a part of the free bond, for actions with an
 * amount.
 */
export interface StateAction {
  kind:
    | 'addBond'
    | 'deposit'
    | 'settle'
    | 'requestUnstake'
    | 'fill'
    | 'refund'
    | 'cancelUnstake'
    | 'cancelNonce'
  share: number
}

type QuoteArgs = ContractFunctionArgs<typeof settlementAbi, 'nonpayable', 'deposit'>

const ERRORS_TOO = [...settlementAbi, ...testTokenAbi.filter((item) => item.type === 'error')] as const
/** The verdict must not depend on token balances. */
const BALANCE = 2n ** 255n
const DEADLINE = 4_000_000_000
const SHARES = 1_000_000

/**
 * Asks the settlement contract itself whether it accepts an offer of one solver, and changes the state on
 * which it decides.
 */
export async function createContractVerdict(chain: TestChain, solver: DevAccount) {
  const { settlement, weth, usdc, bondToken } = chain.contracts
  const calls = createCalls(chain.devnet, settlement)
  const open: { orderId: `0x${string}`; fillDeadline: number }[] = []
  const used: bigint[] = []
  let lastNonce = 1_000_000n

  for (const [token, owner] of [
    [weth, user],
    [usdc, solver],
    [bondToken, solver],
  ] as const) {
    await calls.fund(token, owner, BALANCE)
  }

  async function bond(): Promise<Bond> {
    const [total, reserved, unstaking, , registered] = await calls.view.solvers([solver.address])
    return { registered, total, reserved, unstaking }
  }

  const partOfFree = async (share: number) => {
    const { total, reserved, unstaking } = await bond()
    const free = total - reserved - unstaking
    return (free * BigInt(Math.round(share * SHARES))) / BigInt(SHARES)
  }

  async function take(kind: 'deposit' | 'settle', outputAmount: bigint): Promise<void> {
    const { timestamp } = await calls.client.getBlock()
    const isToExpire = kind === 'deposit' && lastNonce % 2n === 0n
    const fillDeadline = isToExpire ? Number(timestamp) + 3 : DEADLINE
    const terms = {
      solver: solver.address,
      user: user.address,
      inputToken: weth,
      inputAmount: 5n,
      outputToken: usdc,
    }
    const rest = {
      orderType: 0,
      outputChainId: BigInt(chain.chainId),
      depositDeadline: fillDeadline,
      fillDeadline,
    }
    const quote = { ...terms, outputAmount, ...rest, nonce: ++lastNonce }
    const signature = await signQuote(solver, chain.domain, quote)
    if (kind === 'settle') {
      const address = await calls.view.computeDepositAddress([quote, signature])
      await calls.transfer(weth, user, address, quote.inputAmount)
    }
    const receipt = await calls.send(user, kind, [quote, signature])
    used.push(quote.nonce)
    const orderId = receipt.logs.find(({ address }) => address.toLowerCase() === settlement.toLowerCase())
      ?.topics[1]
    if (kind === 'deposit' && orderId !== undefined) open.push({ orderId, fillDeadline })
  }

  async function perform(action: StateAction): Promise<unknown> {
    switch (action.kind) {
      case 'addBond':
        return calls.send(solver, 'addBond', [1n + (await partOfFree(action.share))])
      case 'deposit':
      case 'settle':
        return take(action.kind, 20n + (await partOfFree(action.share)) * 20n)
      case 'requestUnstake':
        return calls.send(solver, 'requestUnstake', [1n + (await partOfFree(action.share)) / 2n])
      case 'cancelUnstake':
        return calls.send(solver, 'cancelUnstake', [])
      case 'cancelNonce':
        used.push(++lastNonce)
        return calls.send(solver, 'cancelNonce', [lastNonce])
      case 'fill': {
        const order = open.shift()
        if (order !== undefined) await calls.send(solver, 'fill', [order.orderId])
        return
      }
      case 'refund': {
        const index = open.findIndex(({ fillDeadline }) => fillDeadline < DEADLINE)
        const [order] = index < 0 ? [] : open.splice(index, 1)
        if (order === undefined) return
        await calls.nextBlockAt(
          Math.max(order.fillDeadline + 1, Number((await calls.client.getBlock()).timestamp) + 1),
        )
        return calls.send(user, 'refund', [order.orderId])
      }
    }
  }

  async function simulate(functionName: 'deposit' | 'settle', args: QuoteArgs): Promise<string | undefined> {
    const call = { account: user, address: settlement, abi: ERRORS_TOO, functionName, args } as const
    return calls.client.simulateContract(call).then(() => undefined, revertName)
  }

  return {
    bond,
    blockNumber: async () => Number(await calls.client.getBlockNumber()),
    /** An action that the contract rejects at this moment changes nothing. */
    act: async (action: StateAction) => void (await perform(action).catch(revertName)),
    /** A nonce that the chain does not know. */
    newNonce: () => ++lastNonce,
    /** Nonces that an order has used or the solver has cancelled. */
    used: used as readonly bigint[],
    /** An offer as apps get it. */
    async offerOf({ quote, signature }: WireReply): Promise<SignedQuote> {
      const struct = contractStruct(quote)
      const depositAddress = await calls.view.computeDepositAddress([struct, signature])
      const orderType = struct.orderType === 0 ? 'EXACT_INPUT' : 'EXACT_OUTPUT'
      const offered = { ...struct, orderType, outputChainId: Number(struct.outputChainId) } as const
      return { quote: offered, signature, depositAddress, orderId: orderIdOf(struct, signature) }
    },
    /**
     * The error by which each of `deposit` and `settle` rejects an offer at the last block. All tokens are
     * where they must be.
     */
    async refusals({ quote, signature }: WireReply): Promise<string[]> {
      const args = [contractStruct(quote), signature] as const
      const depositAddress = await calls.view.computeDepositAddress(args)
      await calls.transfer(weth, user, depositAddress, args[0].inputAmount)
      const refusals = await Promise.all([simulate('deposit', args), simulate('settle', args)])
      return refusals.filter((refusal) => refusal !== undefined)
    },
  }
}

/** @throws any error that is no revert */
function revertName(error: unknown): string {
  const reverted =
    error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError)
  if (!(reverted instanceof ContractFunctionRevertedError) || reverted.data === undefined) throw error
  return reverted.data.errorName
}
