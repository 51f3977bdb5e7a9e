import { encodeEventTopics, erc20Abi, type Hex, pad } from 'viem'
import { createRangeSize, readRange } from '../../../chain/src/block-ranges.js'
import { logIn } from '../../../protocol/src/node/parse-blocks.js'
import type { KnownOrder } from '../../../protocol/src/orders/order.js'
import type { NodeLog } from '../../../protocol/src/settlement/settlement.js'
import { settlementOf } from '../../../protocol/src/settlement/settlement-of-chain.js'
import { lowerCase } from '../../../protocol/src/values/hex.js'
import type { ChainParts } from '../chain/chain-parts.js'
import { MAX_RANGE, onFailed, readLogs, readOrder } from '../chain/contract.js'
import type { StoredOrder } from '../state.js'
import type { PaymentEnd } from '../transactions/transaction-sender.js'
import type { Deposit } from './deposits.js'
import { type MissedOrder, type OrderTerms, toPublicTerms } from './order-terms.js'

interface OrderEnd {
  /** The solver's own. */
  readonly payment?: PaymentEnd
  /** Of one that was missed: what was taken from the bond, or is reserved, in the bond token's smallest unit. */
  readonly cost?: bigint
  /** Otherwise it can still cost a part of the bond, and its quote must be ended as any other. */
  readonly isNonceUsed?: boolean
}

/**
 * Ends an order, and its quote with it. The report comes before the status: after a crash between both, it comes again. One that others
 * have settled waits until the node shows how.
 * @throws ChainReadError of a report that needs the order's terms, and Error for an order that the node does not have
 */
export async function endOrder(
  parts: ChainParts,
  order: StoredOrder,
  { place, settledBy }: Deposit,
  status: 'FILLED' | 'MISSED',
  { payment, cost = 0n, isNonceUsed = true }: OrderEnd = {},
): Promise<void> {
  const { chain, state, ledger, time, log } = parts
  const { orderId, signed } = order
  // Other orders have ended before this state began.
  const isOwn = cost > 0n || [signed, payment, place, settledBy].some((known) => known !== undefined)
  if (isOwn) {
    const terms = await readTerms(parts, order)
    if (status === 'MISSED')
      reportMissed(parts, { ...terms, deposit: place, cost }, signed?.isForAddress === true)
    else if (!(await reportFilled(parts, terms, payment, settledBy))) return
  }
  log.info({ chainId: chain.chainId, orderId, status, transactionHash: payment?.hash }, 'order ended')
  state.setStatus(orderId, isNonceUsed ? status : 'QUOTED')
  if (signed === undefined) return
  if (!isNonceUsed) ledger.deposited(signed.quote, 'NONE')
  // What others have paid is known by the next block.
  else ledger.end(signed, payment?.blockNumber ?? time.atDepth(0).blockNumber + 1n)
}

async function readTerms({ chain }: ChainParts, order: StoredOrder): Promise<OrderTerms> {
  const terms = order.signed?.quote ?? (await readOrder(chain, order.orderId))
  if ('state' in terms && terms.state === 'NONE')
    throw new Error(`the node does not show order ${order.orderId}`)
  return toPublicTerms(order, terms)
}

/** @returns false while the node does not show how others have settled it */
async function reportFilled(
  parts: ChainParts,
  terms: OrderTerms,
  payment: PaymentEnd | undefined,
  settledBy: Hex | undefined,
): Promise<boolean> {
  const transactionHash = payment?.hash ?? settledBy
  const trade = transactionHash && (await readTrade(parts, terms, transactionHash))
  if (trade === undefined && payment === undefined && parts.time.passed() <= terms.fillDeadline) return false
  parts.books.filled({
    ...terms,
    ...trade,
    transactionHash: payment?.hash ?? (trade && transactionHash),
    gasUsed: payment?.gasUsed,
    gasCost: payment?.fee,
  })
  return true
}

function reportMissed(
  { losses, books, onError }: ChainParts,
  missed: MissedOrder,
  isForAddress: boolean,
): void {
  const { chainId, orderId, deposit, cost, outputToken } = missed
  books.missed(missed)
  const costs = cost > 0n ? `, and has cost ${cost} units of the bond token` : ''
  const isSlashedAtAddress = cost > 0n && deposit !== 'CONTRACT' && isForAddress
  const then = isSlashedAtAddress ? ': quotes for deposit addresses are declined there for 24 hours' : ''
  onError(new Error(`order ${orderId} on chain ${chainId} was not paid by its fill deadline${costs}${then}`))
  if (deposit !== 'CONTRACT' || !losses.isRefused(outputToken)) return
  const quotes = `quotes of ${outputToken} on chain ${chainId}`
  onError(new Error(`${quotes} are declined for an hour: missed orders cost too much`))
}

const [TRANSFER] = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer' })

/**
 * Reads what the solver has got and paid by the transaction that has settled an order: another account may have paid the output, and
 * less input than was quoted may have been taken.
 * @returns its amounts; undefined when the node does not show it
 * @throws viem's errors
 */
async function readTrade(
  { chain: { client, chainId, settlement }, solver }: ChainParts,
  { orderId, user, inputToken, outputToken }: OrderTerms,
  transactionHash: Hex,
): Promise<Pick<OrderTerms, 'inputAmount' | 'outputAmount'> | undefined> {
  const { decodeLogs } = settlementOf(chainId)
  const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [transactionHash] })
  const [own, contract, receiver] = [solver, settlement, lowerCase(user)].map((address) => pad(address))
  const steps = logsOf(receipt).map((log) => {
    const [found] = decodeLogs(chainId, log.address === settlement ? [log] : []).events
    const settled = found?.event.type === 'Settled' ? found.event.orderId : undefined
    const [topic, from, to] = log.topics
    const isOwn = topic === TRANSFER && from === own
    return { ...log, settled, isOwn, isIn: topic === TRANSFER && from === contract && to === own }
  })
  // Others may settle several orders at once. One contract emits the event of each before its transfers, and others after them.
  const first = steps.find(({ settled, isOwn, isIn }) => settled !== undefined || isOwn || isIn)
  if (first?.settled === undefined) steps.reverse()
  const from = steps.findIndex(({ settled }) => settled === orderId)
  if (from === -1) return undefined
  const trade = { inputAmount: 0n, outputAmount: 0n }
  for (const { settled, address, isOwn, isIn, topics, data } of steps.slice(from + 1)) {
    if (settled !== undefined) break
    if (isIn && address === lowerCase(inputToken)) trade.inputAmount += BigInt(data)
    if (isOwn && topics[2] === receiver && address === lowerCase(outputToken))
      trade.outputAmount += BigInt(data)
  }
  return trade
}

/** The logs of a receipt; none when they cannot be read. */
function logsOf(receipt: { readonly logs?: readonly unknown[] } | null): NodeLog[] {
  try {
    return (receipt?.logs ?? []).map((log, index) => logIn(log, `logs[${index}]`))
  } catch {
    return []
  }
}

/** Blocks may have come faster than lately. */
const FASTER = 4

/**
 * Reads what the end of a refunded order has taken of the bond, by the event of the contract.
 * @returns undefined while the node does not show it
 * @throws viem's errors
 */
export async function readSlash(
  { chain, time }: ChainParts,
  { orderId, fillDeadline }: KnownOrder,
): Promise<bigint | undefined> {
  const { chainId, settlement } = chain
  const { READ_TOPICS, decodeLogs } = settlementOf(chainId)
  const seconds = Math.max(1, time.passed() - fillDeadline)
  const depth = Math.ceil((FASTER * seconds) / time.blockSeconds()) + time.overlap()
  const maxTo = Number(time.atDepth(0).blockNumber)
  const size = createRangeSize(MAX_RANGE)
  const read = (from: number, to: number) =>
    readLogs(chain, { from, to }, [[...READ_TOPICS], orderId], settlement)
  for (let from = Number(time.atDepth(depth).blockNumber); from <= maxTo; ) {
    const { to, range } = await readRange(size, {
      from,
      maxTo,
      read,
      logsIn: (logs) => logs.length,
      onFailed,
    })
    const { events, changedOrders } = decodeLogs(chainId, range)
    for (const { event } of events) if (event.type === 'Refunded') return event.bondSlashed
    // Its address was emptied without a slash.
    if (changedOrders.length > 0) return 0n
    from = to + 1
  }
  return undefined
}
