import { hash } from 'node:crypto'
import type { MessageInitShape } from '@bufbuild/protobuf'
import {
  type GetOrderResponseSchema,
  type ListOrdersRequest,
  OrderService,
  OrderState,
  type OrderStepSchema,
} from '../../../gen/aggregator/v1/order_pb.js'
import { chainNotSupported } from '../../../packages/protocol/src/errors.js'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../../packages/protocol/src/field-rules.js'
import {
  KNOWN_ORDER_STATES,
  type ListedOrder,
  type OrderFilter,
  type OrderPosition,
  type OrderStep,
  type OrderWithSteps,
} from '../../../packages/protocol/src/orders/order.js'
import { toCachedChecksumAddress } from '../../../packages/protocol/src/signing/typed-data.js'
import type { Chain } from '../../chain/chain.js'
import type { OrderStore } from '../../store/orders/order-store.js'
import { byNumber } from '../convert/enum-words.js'
import type { Fields } from '../fields.js'
import { type Method, unaryMethod } from '../method.js'

/** The methods of OrderService. */
export function createOrderService(chains: ReadonlyMap<number, Chain>, orders: OrderStore): Method[] {
  /** The chain's own time, by which the contract gives refunds: Unix time in seconds. */
  const timeOf = (chainId: number) => (chains.get(chainId)?.headTimeMs() ?? 0) / 1000

  const getOrder = unaryMethod(OrderService.method.getOrder, {
    limit: 'order',
    read: (message, fields) => ({
      chainId: Number(message.chainId),
      orderId: fields.bytes32('orderId', message.orderId),
    }),
    async handle({ chainId, orderId }) {
      const chain = chains.get(chainId)
      if (chain === undefined) throw chainNotSupported(chainId, [...chains.keys()])
      return toOrderMessage(await chain.readOrder(orderId), timeOf(chainId))
    },
  })

  const listOrders = unaryMethod(OrderService.method.listOrders, {
    limit: 'order',
    read(message, fields) {
      const chainId = Number(message.chainId)
      const filter = readFilter(message, fields)
      const pageSize = Math.min(message.pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
      const after = message.pageToken ? readPageToken(message.pageToken, chainId, filter) : undefined
      // Filters that cannot be read belong to no token.
      const areFiltersRead = !fields.violations.some(({ field }) => FILTERS.has(field))
      if (message.pageToken && after === undefined && areFiltersRead)
        fields.addViolation('pageToken', 'must be the nextPageToken of a page with the same filters')
      return { chainId, filter, pageSize, after }
    },
    async handle({ chainId, filter, pageSize, after }) {
      const page = await orders.list(chainId, filter, after, pageSize)
      return {
        orders: page.orders.map((order) => toListedOrderMessage(order, timeOf(chainId))),
        nextPageToken: page.next && writePageToken(page.next, chainId, filter),
      }
    },
  })

  return [getOrder, listOrders]
}

const FILTERS: ReadonlySet<string> = new Set(['user', 'solver', 'state'])

function readFilter({ user, solver, state }: ListOrdersRequest, fields: Fields): OrderFilter {
  return {
    ...(user !== undefined && { user: fields.address('user', user) }),
    ...(solver !== undefined && { solver: fields.address('solver', solver) }),
    ...(state !== undefined && { state: fields.choice('state', state, LISTED_STATES) }),
  }
}

const DIGEST_LENGTH = 8
const TOKEN = /^([0-9a-z]{1,11})-([0-9a-z]{1,11})-([0-9a-f]{64})-([\w-]{8})$/

/**
 * Writes the token of the page after a position (AIP-158). It is opaque to callers and safe in URLs. It contains a digest of
 * the chain and the filters, so that a token is valid only with those of its page.
 */
function writePageToken(
  { blockNumber, logIndex, orderId }: OrderPosition,
  chainId: number,
  filter: OrderFilter,
): string {
  const position = [blockNumber.toString(36), logIndex.toString(36), orderId.slice(2)]
  return [...position, digestOf(chainId, filter)].join('-')
}

/** @returns the position of a token; undefined when it is not a token of these filters */
function readPageToken(token: string, chainId: number, filter: OrderFilter): OrderPosition | undefined {
  const [, block = '', index = '', id, digest] = TOKEN.exec(token) ?? []
  const [blockNumber, logIndex] = [Number.parseInt(block, 36), Number.parseInt(index, 36)]
  const isPosition = Number.isSafeInteger(blockNumber) && Number.isSafeInteger(logIndex)
  if (!isPosition || digest !== digestOf(chainId, filter)) return undefined
  return { blockNumber, logIndex, orderId: `0x${id}` }
}

function digestOf(chainId: number, { user, solver, state }: OrderFilter): string {
  return hash('sha256', JSON.stringify([chainId, user, solver, state]), 'base64url').slice(0, DIGEST_LENGTH)
}

/** The states of listed orders, by their numbers in messages. */
const LISTED_STATES = byNumber(KNOWN_ORDER_STATES, OrderState)

/** The message of an order. It has only three fields when the contract does not know the order (docs/decisions.md, D6). */
function toOrderMessage(
  order: OrderWithSteps,
  chainTime: number,
): MessageInitShape<typeof GetOrderResponseSchema> {
  const { orderId, chainId, state } = order
  if (state === 'NONE') return { orderId, chainId: BigInt(chainId), state: OrderState.NONE }
  return toListedOrderMessage({ ...order, terms: order }, chainTime)
}

/** The message of an order in a list. Its fields are written out, because spreads take three times as long. */
function toListedOrderMessage(order: ListedOrder, chainTime: number) {
  const { orderId, chainId, state, user, solver, terms, steps } = order
  return {
    orderId,
    chainId: BigInt(chainId),
    state: OrderState[state],
    user: toCachedChecksumAddress(user),
    solver: solver && toCachedChecksumAddress(solver),
    inputToken: terms && toCachedChecksumAddress(terms.inputToken),
    inputAmount: terms?.inputAmount.toString(),
    outputToken: terms && toCachedChecksumAddress(terms.outputToken),
    outputAmount: terms?.outputAmount.toString(),
    outputChainId: terms && BigInt(terms.outputChainId),
    fillDeadline: terms?.fillDeadline,
    deposited: steps.deposited && toStep(steps.deposited),
    settled: steps.settled && toStep(steps.settled),
    refunded: steps.refunded && toStep(steps.refunded),
    isTerminal: state !== 'DEPOSITED',
    isRefundable: state === 'DEPOSITED' && terms !== undefined && chainTime > terms.fillDeadline,
  }
}

function toStep(step: OrderStep): MessageInitShape<typeof OrderStepSchema> {
  const { blockNumber, blockTime, transactionHash } = step
  return {
    blockNumber: BigInt(blockNumber),
    blockTime: BigInt(blockTime),
    transactionHash,
  }
}
