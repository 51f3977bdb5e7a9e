import { decodeFunctionData, type Hex, toEventSelector, toFunctionSelector } from 'viem'
import { expect } from 'vitest'
import { deployedSettlementAbi } from '../../gen/contracts/deployed-settlement.js'
import { modeOfNonce } from '../../packages/protocol/src/quotes/nonce-mode.js'
import { NO_USER } from '../../packages/protocol/src/quotes/quote.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import { middleOf } from '../../packages/solver/src/ending/ending-rules.js'
import { OrderState } from '../support/chain/signed-quote.js'
import { BASE_FEE, GAS, type ModelBlock, type ModelReceipt, TIP } from '../support/model-chain/model-chain.js'
import { isPayable, type KnownQuote } from './known-quotes.js'
import { BOND, FEE_TOKEN, FUNDS, SOLVER, USDC, WETH, type World } from './world.js'

/** Limits of a solver with the kit's defaults (docs/decisions.md, D23), in thousandths. */
const MAX_BOND_SHARE = 100n
const MAX_OPEN_BOND = 500n
const MAX_ADDRESS_BOND_SHARE = 50n
/** A solver that runs, with a node that answers and a chain that takes transactions, pays within this time. */
const PAYS_WITHIN_SECONDS = 45
const MIN_FILL_SECONDS = 60
const MAX_LOCK_SECONDS = 3600
/** The kit may know the bond of a few blocks ago. */
const KNOWN_BLOCKS = 8

export type Watch = ReturnType<typeof createWatch>

/** Watches a history, and throws where the solver is robbed, pays twice or does not pay. */
export function createWatch(world: World) {
  const { contracts, chain, rules } = world
  const quotes: KnownQuote[] = []
  /** For how long a payment would have succeeded while the solver could make it, in seconds. */
  const payableFor = new Map<KnownQuote, number>()
  /** The quotes whose payment would have succeeded, by block. */
  const payableAt: Set<KnownQuote>[] = []
  const freeBonds: bigint[] = [BOND]
  let ableSince: number | undefined
  const settled = new Set<string>()
  /** The number of the newest block after the last reorganisation. */
  let reorganisedAt = 0
  const wasUsed = new Set<KnownQuote>()
  /** Quotes whose nonce is unused again, which no solver can know before. */
  const revived = new Set<KnownQuote>()
  let paid = 0n
  let received = 0n

  const freeBond = () => {
    const { totalBond, reservedBond, unstakeAmount } = contracts.settlement.bondOf(SOLVER)
    return totalBond - reservedBond - unstakeAmount
  }
  const isUnused = ({ quote }: KnownQuote) => !contracts.settlement.isNonceUsed(SOLVER, quote.nonce)
  /** Of quotes with the same nonce, one at most can be taken. */
  function bondsOf(chosen: readonly KnownQuote[]): bigint {
    const largest = new Map<bigint, bigint>()
    for (const { quote, bond } of chosen)
      if (bond > (largest.get(quote.nonce) ?? 0n)) largest.set(quote.nonce, bond)
    return [...largest.values()].reduce((sum, bond) => sum + bond, 0n)
  }

  /** Counts what the orders that a block settles have cost and brought; or no more, when it is removed. */
  function countMoney({ receipts }: ModelBlock, sign: 1n | -1n): void {
    for (const receipt of receipts)
      for (const { quote, orderId, hasFee } of ordersOf(receipt, SETTLED)) {
        // Less input than quoted came. At a deposit address, nobody can know it before.
        if (hasFee && receipt.transaction.data.startsWith(FILL))
          fail(`order ${orderId} was paid for less input`)
        if (sign === -1n) settled.delete(orderId)
        else if (settled.has(orderId)) fail(`order ${orderId} settled twice`)
        else settled.add(orderId)
        // On deployed contracts, the caller of `settle` pays the output.
        if (rules === 'reference' || receipt.transaction.from === SOLVER) paid += sign * quote.outputAmount
        if (quote.inputToken.toLowerCase() === WETH) received += sign * quote.inputAmount
      }
  }

  /** Each settled order took the output once, and its input came. */
  function checkMoney(): void {
    const [usdc, weth] = [USDC, WETH].map((address) => contracts.token(address).balanceOf(SOLVER)) as [
      bigint,
      bigint,
    ]
    if (usdc !== FUNDS - paid) fail(`the solver has paid ${FUNDS - usdc} for orders of ${paid}`)
    if (weth !== received) fail(`the solver has got ${weth} for orders of ${received}`)
  }

  /** The orders of the events of a transaction. */
  function ordersOf({ logs }: ModelReceipt, event: string, matches = (_data: Hex) => true): KnownQuote[] {
    return logs.flatMap(({ topics, data }) =>
      topics[0] === event && matches(data) ? quotes.filter(({ orderId }) => topics[1] === orderId) : [],
    )
  }

  /** A cancellation must not take an order whose tokens lay there when it was sent. */
  function checkCancellations({ receipts }: ModelBlock): void {
    for (const { transaction, revert } of receipts) {
      if (
        transaction.from !== SOLVER ||
        revert !== undefined ||
        transaction.to !== contracts.settlement.address
      )
        continue
      const sentAfter = chain.sentAfter(transaction.nonce) ?? 0
      // It was sent for another history.
      if (sentAfter <= reorganisedAt) continue
      for (const known of cancelledBy(transaction.data)) {
        // No honest user pays for a price.
        if (known.isIndicative) continue
        if (isKept(known) && (chain.blocks[sentAfter]?.timestamp ?? 0) <= middleOf(known.quote))
          fail(`the nonce of ${known.orderId} was cancelled, although a late transfer would be lost`)
        if (payableAt[sentAfter - 1]?.has(known) && payableAt[sentAfter]?.has(known))
          fail(
            `the nonce of ${known.orderId} was cancelled, although its tokens were there and it could be paid`,
          )
      }
    }
  }

  function cancelledBy(data: `0x${string}`): KnownQuote[] {
    const { functionName, args } = decodeFunctionData({ abi: deployedSettlementAbi, data })
    if (functionName === 'cancelNonce') return quotes.filter(({ quote }) => quote.nonce === args[0])
    if (functionName !== 'cancelNonces') return []
    const [word, mask] = args
    return quotes.filter(({ quote: { nonce } }) => nonce >> 8n === word && (mask >> (nonce & 255n)) & 1n)
  }

  /** No quote is slashed that the solver could have ended. */
  function checkSlashes({ receipts }: ModelBlock): void {
    for (const receipt of receipts)
      for (const known of ordersOf(receipt, REFUNDED, isSlash)) {
        if (known.hasFee) continue
        const able = ableDuring.get(known) ?? 0
        if (able >= PAYS_WITHIN_SECONDS && !isKept(known))
          fail(
            `order ${known.orderId} was refunded with a slash, although the solver could end its quote for ${able} s`,
          )
      }
  }

  /** For how long the solver could have ended a quote, in seconds of its fill window without a break. */
  const ableDuring = new Map<KnownQuote, number>()
  /** Tokens at an address that the contract keeps after a cancellation: the kit must not cancel, and cannot settle. */
  const isKept = (known: KnownQuote) => rules === 'deployed' && known.isForAddress && !known.isIndicative

  return {
    quotes,
    /** A quote has been signed. */
    signed(known: KnownQuote): void {
      quotes.push(known)
      const { user, depositDeadline, fillDeadline } = known.quote
      const latest = Math.max(chain.head().timestamp, Math.floor(world.clock.now() / 1000)) + MAX_LOCK_SECONDS
      if (modeOfNonce(known.quote.nonce) !== (known.isForAddress ? 'ADDRESS' : 'CONTRACT'))
        fail(`the nonce of ${known.orderId} does not say its mode`)
      if (known.isIndicative && user.toLowerCase() !== NO_USER) fail(`an indicative quote is for ${user}`)
      if (depositDeadline < chain.head().timestamp + 2) fail('a quote is over when it is signed')
      if (fillDeadline - depositDeadline < MIN_FILL_SECONDS) fail('a quote leaves no time for its fill')
      if (fillDeadline > latest) fail('a quote binds the solver for too long')
      const free = freeBonds
        .slice(-KNOWN_BLOCKS)
        .reduce((most, bond) => (bond > most ? bond : most), freeBond())
      const unused = quotes.filter((other) => isUnused(other) && !revived.has(other))
      const isAbove = (bond: bigint, share: bigint) => bond * 1000n > free * share
      if (isAbove(known.bond, MAX_BOND_SHARE)) fail(`a quote risks ${known.bond} of the free bond ${free}`)
      if (isAbove(bondsOf(unused), MAX_OPEN_BOND))
        fail(`${unused.length} open quotes risk ${bondsOf(unused)} of the free bond ${free}`)
      const kept = unused.filter(({ isForAddress, isIndicative }) => isForAddress && !isIndicative)
      if (rules === 'deployed' && isAbove(bondsOf(kept), MAX_ADDRESS_BOND_SHARE) && kept.includes(known))
        fail(`${kept.length} quotes for addresses risk ${bondsOf(kept)} of the free bond ${free}`)
    },
    /** A block has been mined. @param isAble whether the solver ran, its node answered and its transactions were taken */
    mined(block: ModelBlock, isAble: boolean): void {
      const seconds = block.timestamp - (chain.blocks.at(-2)?.timestamp ?? block.timestamp)
      ableSince = isAble ? (ableSince ?? block.timestamp) : undefined
      freeBonds.push(freeBond())
      const payable = new Set<KnownQuote>()
      for (const known of quotes) {
        if (!isUnused(known)) {
          wasUsed.add(known)
          revived.delete(known)
        }
        if (isPayable(world, known)) payable.add(known)
        const { depositDeadline, fillDeadline } = known.quote
        const isEnding = block.timestamp > depositDeadline && block.timestamp <= fillDeadline
        const since = Math.max(ableSince ?? block.timestamp, depositDeadline)
        if (isEnding) ableDuring.set(known, Math.max(ableDuring.get(known) ?? 0, block.timestamp - since))
        const sofar = payable.has(known) && isAble ? (payableFor.get(known) ?? 0) + seconds : 0
        payableFor.set(known, sofar)
        if (sofar > PAYS_WITHIN_SECONDS && !known.hasFee && !known.isIndicative)
          fail(`order ${known.orderId} could be paid for ${sofar} s, and is not`)
      }
      payableAt[block.number] = payable
      checkCancellations(block)
      checkSlashes(block)
      countMoney(block, 1n)
      checkMoney()
    },
    /** Blocks have been replaced. What was done before says nothing of what can be done now. */
    reorganised(removed: readonly ModelBlock[], added: readonly ModelBlock[]): void {
      for (const block of removed) countMoney(block, -1n)
      for (const block of added) countMoney(block, 1n)
      checkMoney()
      reorganisedAt = chain.head().number
      ableSince = undefined
      ableDuring.clear()
      payableFor.clear()
      for (const known of quotes.filter(isUnused)) if (wasUsed.has(known)) revived.add(known)
    },
    /** The books have each transaction of the solver, and what it has got and paid, to the last wei. */
    checkBooks(): void {
      const { transactions, fees, tokens, pairs } = world.statement()
      const mined = chain.blocks.flatMap(({ receipts }) =>
        receipts.filter(({ transaction }) => transaction.from === SOLVER),
      )
      const told = transactions.map(({ nonce, hash, isReverted }) => `${nonce} ${hash} ${isReverted}`)
      const isReverted = ({ revert }: ModelReceipt) => revert !== undefined
      expect(told.sort()).toEqual(
        mined
          .map((receipt) => `${receipt.transaction.nonce} ${receipt.transaction.hash} ${isReverted(receipt)}`)
          .sort(),
      )
      const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
      expect([
        sum(fees.map(({ gasCost }) => gasCost)),
        sum(fees.map(({ reverted }) => BigInt(reverted))),
      ]).toEqual([BigInt(mined.length) * GAS * (BASE_FEE + TIP), BigInt(mined.filter(isReverted).length)])
      const change = (of: Address) =>
        sum(tokens.map(({ token, received, paid }) => (token.toLowerCase() === of ? received - paid : 0n)))
      const balance = (token: Address) => contracts.token(token).balanceOf(SOLVER)
      expect([WETH, FEE_TOKEN, USDC].map(change)).toEqual([
        balance(WETH),
        balance(FEE_TOKEN),
        balance(USDC) - FUNDS,
      ])
      const { totalBond } = contracts.settlement.bondOf(SOLVER)
      const isOpen = ({ orderId }: KnownQuote) =>
        contracts.settlement.order(orderId).state === OrderState.DEPOSITED
      const reserved = sum(quotes.filter(isOpen).map(({ bond }) => bond))
      expect(sum(pairs.map(({ cost }) => cost))).toBe(BOND - totalBond + reserved)
    },
    /** All quotes have ended, after the solver ran for long enough. */
    ended(): void {
      const open = quotes.filter((known) => isUnused(known) && !isKept(known))
      if (open.length > 0) fail(`${open.length} quotes are open for ever, such as ${open[0]?.orderId}`)
    },
  }
}

const [SETTLED, REFUNDED] = [
  'Settled(bytes32,address,address)',
  'Refunded(bytes32,address,uint256,uint256)',
].map((event) => toEventSelector(event)) as [string, string]

const FILL = toFunctionSelector('fill(bytes32)')

/** Whether a Refunded event has taken a part of the bond. */
const isSlash = (data: Hex) => BigInt(`0x${data.slice(-64)}`) > 0n

function fail(text: string): never {
  throw new Error(text)
}
