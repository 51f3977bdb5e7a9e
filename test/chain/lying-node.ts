import type { Journal } from '../../src/chain/announcer.js'
import type { Block, BlockReader } from '../../src/chain/block-reader.js'
import type { TimedHeader } from '../../src/chain/headers.js'
import { InconsistentAnswerError } from '../../src/chain/inconsistent-answer.js'
import type { BlockHeader, ChainPosition, PlacedEvent } from '../../src/domain/block.js'
import type { Address, Hex } from '../../src/domain/hex.js'
import type { Random } from '../random.js'

interface ModelBlock extends TimedHeader {
  readonly events: readonly PlacedEvent[]
}

const USER: Address = `0x${'11'.repeat(20)}`
/** A pass that asks more than this is in a loop. */
const MAX_CALLS = 500

/** A chain whose blocks have up to two events each. */
export function createModelChain(random: Random) {
  let serial = 0
  const byHash = new Map<Hex, ModelBlock>()
  let blocks: ModelBlock[] = []

  function makeBlock(number: number, parentHash: Hex): ModelBlock {
    const hash: Hex = `0x${(++serial).toString(16).padStart(64, '0')}`
    const events = Array.from({ length: random.integer(0, 2) }, (_, logIndex): PlacedEvent => {
      const orderId: Hex = `0x${(serial * 10 + logIndex).toString(16).padStart(64, '0')}`
      const event = {
        type: 'Settled',
        chainId: 1,
        orderId,
        user: USER,
        solver: USER,
        blockNumber: number,
      } as const
      return { event, blockHash: hash, logIndex }
    })
    const block = { number, hash, parentHash, timestampMs: number, events }
    byHash.set(hash, block)
    return block
  }

  function grow(count: number): void {
    for (let left = count; left > 0; left--) {
      const parentHash = blocks.at(-1)?.hash ?? `0x${'0'.repeat(64)}`
      blocks.push(makeBlock(blocks.length, parentHash))
    }
  }
  grow(1)

  return {
    grow,
    reorganise(depth: number): void {
      const kept = Math.max(1, blocks.length - depth)
      const dropped = blocks.length - kept
      blocks = blocks.slice(0, kept)
      grow(dropped + random.integer(0, 3))
    },
    tip: () => blocks.at(-1) as ModelBlock,
    at: (number: number): ModelBlock | undefined => blocks[number],
    get: (hash: Hex) => byHash.get(hash),
    /** The last block of a fork that begins at or above a number, and that is never the chain. */
    forkFrom(number: number, length: number): ModelBlock {
      let last = blocks[number] as ModelBlock
      for (let left = length; left > 0; left--) last = makeBlock(last.number + 1, last.hash)
      return last
    },
    events: () => blocks.flatMap(({ events }) => events),
  }
}

export type ModelChain = ReturnType<typeof createModelChain>

/** A node that lies or fails at random, as often as a test allows. */
export function createLyingNode(chain: ModelChain, random: Random) {
  let liesLeft = 0
  let calls = 0

  /** Whether this answer is to be a lie. */
  function lies(): boolean {
    if (++calls > MAX_CALLS) throw new Error('the node is asked for ever')
    if (liesLeft === 0 || random.integer(0, 4) > 0) return false
    liesLeft--
    return true
  }

  function missing(): never {
    if (random.integer(0, 1) === 0) throw new Error('no answer')
    throw new InconsistentAnswerError('there is no such block')
  }

  function header(number: number): ModelBlock {
    const block = chain.at(number)
    return lies() || block === undefined ? missing() : block
  }

  function wrongHead(): TimedHeader {
    const { number } = chain.tip()
    const forkAt = random.integer(Math.max(0, number - 12), number)
    const wrong = [
      () => chain.forkFrom(forkAt, random.integer(1, 8)),
      () => ({ ...chain.tip(), hash: `0x${'e'.repeat(64)}`, parentHash: `0x${'d'.repeat(64)}` }) as const,
      () => ({ ...chain.tip(), number: 10 ** 9 }),
      () => chain.at(forkAt) as ModelBlock,
    ] as const
    return random.pick(wrong)()
  }

  const reader: BlockReader = {
    head: async () => (lies() ? wrongHead() : chain.tip()),
    header: async (number) => header(number),
    headers: async (from, to) => Array.from({ length: to - from + 1 }, (_, index) => header(from + index)),
    async headerOf(hash) {
      if (lies()) return chain.tip()
      return chain.get(hash) ?? missing()
    },
    finalized: async () => 0,
    blocks: async (headers) =>
      headers.map((of): Block => {
        const block = chain.get(of.hash)
        if (lies() || block === undefined) return missing()
        return {
          header: of,
          events: block.events,
          bondedSolvers: new Set(),
          cancelledNonces: [],
          isProven: true,
        }
      }),
    async range(from, to) {
      const end = header(to)
      const events = Array.from({ length: to - from + 1 }, (_, i) => header(from + i).events).flat()
      return { end, events, bondedSolvers: new Set(), cancelledNonces: [] }
    },
    withSolvers: async (events) => [...events],
  }

  return {
    reader,
    /** Allows so many lies from now on, and begins to count calls anew. */
    allow(lieCount: number) {
      liesLeft = lieCount
      calls = 0
    },
  }
}

/** A journal in memory whose writes fail at random: before they are done, or after. */
export function createModelJournal(random: Random) {
  let position: ChainPosition | undefined
  let standing: readonly PlacedEvent[] = []
  let failuresLeft = 0
  const removed: PlacedEvent[] = []

  function write(change: () => void): void {
    const fails = failuresLeft > 0 && random.integer(0, 4) === 0
    if (fails) failuresLeft--
    if (!fails || random.integer(0, 1) === 0) change()
    if (fails) throw new Error('the database is away')
  }

  function move(headers: readonly BlockHeader[]): void {
    const [first, ...rest] = headers
    if (position === undefined || first === undefined) throw new Error('there is no position to move')
    position = { ...position, headers: [first, ...rest] }
  }

  const journal: Journal = {
    open: async () => position,
    async begin(settlement, header) {
      write(() => {
        position = { settlement, firstBlock: header.number + 1, headers: [header] }
      })
    },
    async append({ headers, events, keepFrom }) {
      write(() => {
        const known = new Set(standing.map(({ event }) => event.orderId))
        if (events.some(({ event }) => known.has(event.orderId))) throw new Error('an event came twice')
        standing = [...standing, ...events]
        const kept = (position?.headers ?? []).filter(({ number }) => number >= keepFrom)
        move([...kept, ...headers])
      })
    },
    async appendMissing(events) {
      const known = new Set(standing.map(({ event }) => event.orderId))
      const missing = events.filter(({ event }) => !known.has(event.orderId))
      write(() => {
        standing = [...standing, ...missing]
      })
      return missing.length
    },
    async revert(ancestor) {
      write(() => {
        const kept = standing.filter(({ event }) => event.blockNumber <= ancestor.number)
        removed.push(...standing.slice(kept.length))
        standing = kept
        const before = (position?.headers ?? []).filter(({ number }) => number < ancestor.number)
        move([...before, ancestor])
      })
    },
  }

  return {
    journal,
    allow(failures: number) {
      failuresLeft = failures
    },
    standing: () => standing,
    removed: removed as readonly PlacedEvent[],
  }
}
