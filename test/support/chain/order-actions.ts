import secp256k1 from 'secp256k1'
import { type Address, domainSeparator, encodeFunctionData, type Hex } from 'viem'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { testTokenAbi } from '../../../gen/contracts/test-token.js'
import { createDevnetClient, type DevAccount, devAccounts } from '../../../packages/cli/src/devnet/deploy.js'
import { ORDER_TYPES, type Quote } from '../../../packages/protocol/src/quotes/quote.js'
import { createQuoteHasher } from '../../../packages/protocol/src/signing/typed-data.js'
import type { Random } from '../random.js'
import type { TestChain } from './chain.js'

/** A transaction for `eth_sendTransaction` from one of anvil's own accounts. */
export interface Transaction {
  from: Address
  to: Address
  data: Hex
  /** Default a million. */
  gas?: Hex
}

/** The parts of an order's quote that may be set. */
export interface OrderTerms {
  user: Address
  solver: DevAccount
  inputAmount: bigint
  outputAmount: bigint
  /** Also the deposit deadline, Unix time in seconds. */
  fillDeadline: number
}

/** A signed quote, whether taken or not. */
export interface Order extends OrderTerms {
  orderId: Hex
  depositAddress: Address
  quote: Quote
  signature: Hex
}

export type ActionKind = 'deposit' | 'fill' | 'settle' | 'refund' | 'refundAddressDeposit'

/** A source of one order event. It can be mined again once a reorganisation has dropped it. */
export interface Action {
  kind: ActionKind
  order: Order
  transactions: readonly Transaction[]
  /** First second at which it succeeds, Unix time. */
  notBefore: number
  /** Last second at which it succeeds, Unix time. */
  notAfter: number
}

export type OrderActions = Awaited<ReturnType<typeof createOrderActions>>

type Chain = Pick<TestChain, 'devnet' | 'chainId' | 'contracts' | 'domain'>

/** Makes orders of WETH for USDC and the actions of their lives. It sends nothing. */
export async function createOrderActions(chain: Chain, random: Random) {
  const { settlement, weth, usdc } = chain.contracts
  const depositProxyCodeHash = await createDevnetClient(chain.devnet, devAccounts[0]).readContract({
    abi: settlementAbi,
    address: settlement,
    functionName: 'DEPOSIT_PROXY_CREATION_CODE_HASH',
  })
  const separator = domainSeparator({ domain: chain.domain })
  const hasher = createQuoteHasher('Service', {
    settlement,
    domainSeparator: separator,
    depositProxyCodeHash,
  })
  let nonce = BigInt(random.hex(8)) << 64n

  function order(terms: OrderTerms): Order {
    const quote: Quote = {
      solver: terms.solver.address,
      user: terms.user,
      inputToken: weth,
      inputAmount: terms.inputAmount,
      outputToken: usdc,
      outputAmount: terms.outputAmount,
      orderType: random.pick(ORDER_TYPES),
      outputChainId: chain.chainId,
      depositDeadline: terms.fillDeadline,
      fillDeadline: terms.fillDeadline,
      nonce: nonce++,
    }
    const { structHash, digest } = hasher.hash(quote)
    const signature = sign(digest, terms.solver)
    return {
      ...terms,
      quote,
      ...hasher.identify(structHash, signature),
      signature: `0x${signature.toString('hex')}`,
    }
  }

  const call = (from: Address, functionName: 'fill' | 'refund', { orderId }: Order): Transaction => ({
    from,
    to: settlement,
    data: encodeFunctionData({ abi: settlementAbi, functionName, args: [orderId] }),
  })
  const callWithQuote = (
    from: Address,
    functionName: 'deposit' | 'settle' | 'refundAddressDeposit',
    { quote, signature }: Order,
  ): Transaction => ({
    from,
    to: settlement,
    data: encodeFunctionData({ abi: settlementAbi, functionName, args: [contractStruct(quote), signature] }),
  })
  const fund = ({ user, depositAddress }: Order, amount: bigint): Transaction => ({
    from: user,
    to: weth,
    data: encodeFunctionData({ abi: testTokenAbi, functionName: 'transfer', args: [depositAddress, amount] }),
  })

  return {
    order,
    /** `Deposited`. */
    deposit: (order: Order): Action => ({
      kind: 'deposit',
      order,
      transactions: [callWithQuote(order.user, 'deposit', order)],
      ...before(order),
    }),
    /** `Settled`, of an order that was deposited. */
    fill: (order: Order): Action => ({
      kind: 'fill',
      order,
      transactions: [call(order.solver.address, 'fill', order)],
      ...before(order),
    }),
    /**
     * Emits only `Settled`, for a quote that was not taken yet: also sends the tokens to its deposit address.
     */
    settle: (order: Order, sender = order.user): Action => ({
      kind: 'settle',
      order,
      transactions: [fund(order, order.inputAmount), callWithQuote(sender, 'settle', order)],
      ...before(order),
    }),
    /** `Refunded`, of an order that was deposited and not filled. */
    refund: (order: Order, sender = order.user): Action => ({
      kind: 'refund',
      order,
      transactions: [call(sender, 'refund', order)],
      ...after(order),
    }),
    /** Emits only `Refunded`, for a quote that was not taken: also sends `amount` to its deposit address. */
    refundAddressDeposit: (order: Order, amount = order.inputAmount, sender = order.user): Action => ({
      kind: 'refundAddressDeposit',
      order,
      transactions: [fund(order, amount), callWithQuote(sender, 'refundAddressDeposit', order)],
      ...after(order),
    }),
  }
}

function before({ fillDeadline }: Order) {
  return { notBefore: 0, notAfter: fillDeadline }
}

function after({ fillDeadline }: Order) {
  return { notBefore: fillDeadline + 1, notAfter: Number.POSITIVE_INFINITY }
}

/** 65 bytes with `s` in the lower half. */
function sign(digest: Uint8Array, signer: DevAccount): Buffer {
  const { privateKey } = signer.getHdKey()
  if (!privateKey) throw new Error(`no key of ${signer.address}`)
  const { signature, recid } = secp256k1.ecdsaSign(digest, privateKey)
  return Buffer.concat([signature, Buffer.of(27 + recid)])
}

function contractStruct(quote: Quote) {
  return {
    ...quote,
    orderType: ORDER_TYPES.indexOf(quote.orderType),
    outputChainId: BigInt(quote.outputChainId),
  }
}
