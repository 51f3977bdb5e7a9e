import type { BlockHeader, EventWithPosition } from '../packages/protocol/src/orders/block.js'
import type { Hex } from '../packages/protocol/src/values/hex.js'
import type { EventStore } from '../src/store/events/event-store.js'
import type { Caller } from './callers.js'

const SETTLEMENT = wide(20, 1)
/** The number of blocks below the head that are kept, as by the default of MAX_REORG_DEPTH. */
const KEPT_BLOCKS = 256

/** Becomes the leader of a chain, and writes one block of deposits at each call. */
export async function blockWriter(
  store: EventStore,
  chainId: number,
  eventsPerBlock: number,
): Promise<Caller> {
  const token = await store.takeOver(chainId)
  const last = token.position?.headers.at(-1)
  let number = last?.number ?? 0
  if (last === undefined) await store.begin(token, SETTLEMENT, headerOf(0))
  return {
    async call() {
      const header = headerOf(++number)
      const events = Array.from({ length: eventsPerBlock }, (_, index) => deposit(chainId, header, index))
      await store.append(token, {
        headers: [header],
        events,
        keepFrom: Math.max(0, number - KEPT_BLOCKS + 1),
      })
    },
    close: async () => {},
  }
}

function headerOf(number: number): BlockHeader {
  return { number, hash: wide(32, number + 1), parentHash: wide(32, number) }
}

function deposit(chainId: number, { number, hash }: BlockHeader, logIndex: number): EventWithPosition {
  const event = {
    type: 'Deposited',
    chainId,
    orderId: wide(32, number * 1000 + logIndex),
    user: wide(20, 2),
    solver: wide(20, 3),
    blockNumber: number,
    logIndex,
    transactionHash: wide(32, number * 1000 + logIndex),
    blockTime: 1_700_000_000 + number,
    inputToken: wide(20, 4),
    inputAmount: 10n ** 18n,
    outputToken: wide(20, 5),
    outputAmount: 10n ** 9n,
    fillDeadline: 1_800_000_000,
  } as const
  return { event, blockHash: hash }
}

/** A number in this many bytes. */
function wide(bytes: number, value: number): Hex {
  return `0x${value.toString(16).padStart(2 * bytes, '0')}`
}
