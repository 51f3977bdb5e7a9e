import { ServiceError } from '../../../packages/protocol/src/errors.js'
import { isNodeAnswer } from '../../../packages/protocol/src/node/node-answer.js'
import { wordsOf } from '../../../packages/protocol/src/node/node-words.js'
import { readView } from '../../../packages/protocol/src/node/read-view.js'
import type { BlockName } from '../../../packages/protocol/src/node/simulate.js'
import type { Order, OrderWithSteps } from '../../../packages/protocol/src/orders/order.js'
import type { View } from '../../../packages/protocol/src/settlement/settlement.js'
import { settlementOf } from '../../../packages/protocol/src/settlement/settlement-of-chain.js'
import type { Bond } from '../../../packages/protocol/src/solvers/solver.js'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import { withTimeout } from '../../concurrency/time-limits.js'
import type { ChainContext } from '../context.js'
import { type ChainState, isCurrent } from '../sync/chain-state.js'
import type { FetchedOrder } from './order-cache.js'

const POLL_SHARED_MS = 1000

/** Time that the database gets for the steps of an order, which usually takes less than 1 ms. */
const STEPS_TIMEOUT_MS = 500

/** Builds the part of a `Chain` that reads its contract's state. @param state returns the chain's current state */
export function createContractReader(context: ChainContext, state: () => ChainState) {
  const { config, rpc, orders, orderStore, clock, log } = context
  const { chainId, settlement } = config
  const { request } = rpc.client
  const contract = settlementOf(chainId)
  let polledAt = Number.NEGATIVE_INFINITY
  let next: Promise<boolean> | undefined

  const read = <T>(view: View<T>, at?: BlockName) => readView(request, settlement, view, at)

  const readOrder = (orderId: Hex, at?: BlockName) => read(contract.order(chainId, orderId), at)

  /**
   * Reads the latest state. When the node lags below the last block seen, it reads the state of that block instead, or
   * fails. Otherwise an old state could count, and its events are not reported again.
   */
  async function readLatest<T>(view: View<T>): Promise<T> {
    const { status, last } = state().snapshot
    // Both in one request, in this order, so that the state is not older than the number.
    const [head, answer] = await Promise.all([request({ method: 'eth_blockNumber' }), read(view)])
    const isLagging = status === 'ok' && last !== undefined && Number(head) < last.number
    return isLagging ? read(view, { blockHash: last.hash }) : answer
  }

  /** Adds the published steps to an order that is being read. @param atBlock the last block seen, if it is read as of that block */
  async function addSteps(orderId: Hex, reading: Promise<Order>, atBlock?: number): Promise<FetchedOrder> {
    const published = withTimeout(orderStore.readSteps(chainId, orderId), STEPS_TIMEOUT_MS, clock).catch(
      () => undefined,
    )
    const [order, steps] = await Promise.all([reading, published])
    if (order.state === 'NONE') return { order, atBlock }
    return { order: { ...order, steps: steps ?? {} }, atBlock: steps && atBlock }
  }

  /** Reads an order as of the last block, or the node's latest state when the node does not have that block. */
  async function readAtLast(orderId: Hex): Promise<FetchedOrder> {
    const { last } = state().snapshot
    if (last !== undefined) {
      try {
        return await addSteps(orderId, readOrder(orderId, { blockHash: last.hash }), last.number)
      } catch (error) {
        if (!isNodeAnswer(error)) throw error
        log.debug({ chainId, reason: wordsOf(error) }, 'an order could not be read as of the last block')
      }
    }
    return addSteps(orderId, readOrder(orderId))
  }

  const lastNumber = () => state().snapshot.last?.number ?? 0

  /**
   * Whether all that the node has is known. Strangers ask for any id, so the node is asked once a second at most: after all of them have
   * asked, since an order may be there that was not a moment ago.
   */
  async function isUpToDate(): Promise<boolean> {
    const waitMs = polledAt + POLL_SHARED_MS - clock.monotonic()
    if (waitMs <= 0) return poll()
    next ??= clock.sleep(waitMs).then(poll)
    return next
  }

  async function poll(): Promise<boolean> {
    next = undefined
    polledAt = clock.monotonic()
    return state().snapshot.status === 'ok' && state().poll()
  }

  async function fetchOrder(orderId: Hex): Promise<OrderWithSteps> {
    // So that the order is read as of the current last block.
    if (await isUpToDate()) return orders.get(orderId, lastNumber(), readAtLast)
    const { order } = await addSteps(orderId, readOrder(orderId))
    return order
  }

  async function orUnavailable<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer
    } catch (error) {
      const cause = new Error(wordsOf(error))
      throw new ServiceError('CHAIN_UNAVAILABLE', `Chain ${chainId} does not answer at the moment.`, {
        cause,
      })
    }
  }

  return {
    readBond: (solver: Address): Promise<Bond> => orUnavailable(readLatest(contract.bond(solver))),
    isNonceUsed: (solver: Address, nonce: bigint): Promise<boolean> =>
      orUnavailable(readLatest(contract.nonceUse(solver, nonce))),
    readOrder(orderId: Hex): Promise<OrderWithSteps> | OrderWithSteps {
      const known = isCurrent(state().snapshot) ? orders.peek(orderId, lastNumber()) : undefined
      return known ?? orUnavailable(fetchOrder(orderId))
    },
  }
}
