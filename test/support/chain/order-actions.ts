import secp256k1 from 'secp256k1'
import { type Address, encodeFunctionData, type Hex } from 'viem'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { testTokenAbi } from '../../../gen/contracts/test-token.js'
import type { DevAccount } from '../../../packages/cli/src/devnet/deploy.js'
import { ORDER_TYPES, type Quote } from '../../../packages/protocol/src/quotes/quote.js'
import type { ModelTestChain } from '../model-chain/start-model-chain.js'
import type { Random } from '../random.js'

/** A call of one of the chain's accounts. */
export interface Transaction {
  readonly from: Address
  readonly to: Address
  readonly data: Hex
}

/** The parts of an order's quote that may be set. */
export interface OrderTerms {
  readonly user: Address
  readonly solver: DevAccount
  readonly inputAmount: bigint
  readonly outputAmount: bigint
  /** Also the deposit deadline, Unix time in seconds. */
  readonly fillDeadline: number
}

/** A signed quote, whether taken or not. */
export interface Order extends OrderTerms {
  readonly orderId: Hex
  readonly depositAddress: Address
  readonly quote: Quote
  readonly signature: Hex
}

/** What causes one event of an order. */
export interface Action {
  readonly transactions: readonly Transaction[]
  /** First second at which it succeeds, Unix time. */
  readonly notBefore: number
}

export type OrderActions = ReturnType<typeof createOrderActions>

/** Makes orders of WETH for USDC and the actions of their lives. It sends nothing. */
export function createOrderActions(
  { chainId, contracts: { settlement, weth, usdc }, model }: ModelTestChain,
  random: Random,
) {
  const { hasher } = model.contracts.settlement
  let nonce = BigInt(random.hex(8)) << 64n

  function order(terms: OrderTerms): Order {
    const { user, solver, inputAmount, outputAmount, fillDeadline } = terms
    const quote: Quote = {
      solver: solver.address,
      user,
      inputToken: weth,
      inputAmount,
      outputToken: usdc,
      outputAmount,
      orderType: random.pick(ORDER_TYPES),
      outputChainId: chainId,
      depositDeadline: fillDeadline,
      fillDeadline,
      nonce: nonce++,
    }
    const { structHash, digest } = hasher.hash(quote)
    const signature = sign(digest, solver)
    const identity = hasher.identify(structHash, signature)
    return { ...terms, quote, ...identity, signature: `0x${signature.toString('hex')}` }
  }

  const call = (from: Address, functionName: string, args: readonly unknown[]): Transaction => ({
    from,
    to: settlement,
    data: encodeFunctionData({ abi: settlementAbi, functionName, args } as never),
  })
  const withQuote = (from: Address, functionName: string, { quote, signature }: Order) =>
    call(from, functionName, [
      {
        ...quote,
        orderType: ORDER_TYPES.indexOf(quote.orderType),
        outputChainId: BigInt(quote.outputChainId),
      },
      signature,
    ])
  const fund = ({ user, depositAddress }: Order, amount: bigint): Transaction => ({
    from: user,
    to: weth,
    data: encodeFunctionData({ abi: testTokenAbi, functionName: 'transfer', args: [depositAddress, amount] }),
  })
  const inTime = (...transactions: Transaction[]): Action => ({ transactions, notBefore: 0 })
  const after = ({ fillDeadline }: Order, ...transactions: Transaction[]): Action => ({
    transactions,
    notBefore: fillDeadline + 1,
  })

  return {
    order,
    /** `Deposited`. */
    deposit: (order: Order) => inTime(withQuote(order.user, 'deposit', order)),
    /** `Settled`, of an order that was deposited. */
    fill: (order: Order) => inTime(call(order.solver.address, 'fill', [order.orderId])),
    /** Emits only `Settled`, for a quote that was not taken yet: also sends the tokens to its deposit address. */
    settle: (order: Order) => inTime(fund(order, order.inputAmount), withQuote(order.user, 'settle', order)),
    /** `Refunded`, of an order that was deposited and not filled. */
    refund: (order: Order) => after(order, call(order.user, 'refund', [order.orderId])),
    /** Emits only `Refunded`, for a quote that was not taken: also sends `amount` to its deposit address. */
    refundAddressDeposit: (order: Order, amount = order.inputAmount) =>
      after(order, fund(order, amount), withQuote(order.user, 'refundAddressDeposit', order)),
  }
}

/** 65 bytes with `s` in the lower half. */
function sign(digest: Uint8Array, signer: DevAccount): Buffer {
  const { privateKey } = signer.getHdKey()
  if (!privateKey) throw new Error(`no key of ${signer.address}`)
  const { signature, recid } = secp256k1.ecdsaSign(digest, privateKey)
  return Buffer.concat([signature, Buffer.of(27 + recid)])
}
