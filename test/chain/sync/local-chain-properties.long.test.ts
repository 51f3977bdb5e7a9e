import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BlockHeader } from '../../../packages/protocol/src/orders/block.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import {
  blockAt,
  extend,
  type LocalChain,
  reconcile,
  type Step,
  tipOf,
  truncateAfter,
} from '../../../src/chain/sync/local-chain.js'
import { rounds } from '../../support/rounds.js'

const SEED = 20_260_105
const RUNS = rounds(1000, 200)

interface Block extends BlockHeader {
  readonly parent: Block | undefined
  readonly eventCount: number
}

interface BlockEvent {
  readonly id: string
  readonly blockNumber: number
}

/** An event that a subscriber receives. */
interface ReceivedEvent extends BlockEvent {
  readonly isReversion: boolean
}

/** A change of the network: blocks with these numbers of events grow on a block, and the last one is the head. */
interface Move {
  /** The block: at a depth below the last head, or any of all blocks. */
  readonly on: { readonly belowHead: number } | { readonly index: number }
  readonly grown: readonly number[]
  /** Depth below a head at which a poller restarts after a lost fork. */
  readonly restartDepth: number
}

const move: fc.Arbitrary<Move> = fc.record({
  on: fc.oneof(
    { weight: 2, arbitrary: fc.constant({ belowHead: 0 }) },
    { weight: 3, arbitrary: fc.record({ belowHead: fc.nat(7) }) },
    { weight: 1, arbitrary: fc.record({ index: fc.nat(10_000) }) },
  ),
  grown: fc.array(fc.nat(2), { maxLength: 5 }),
  restartDepth: fc.nat(6),
})
const histories = fc.record({
  maxLength: fc.oneof(fc.constantFrom(1, 2), fc.integer({ min: 3, max: 9 })),
  moves: fc.array(move, { minLength: 1, maxLength: 30, size: 'max' }),
})

function grow(parent: Block | undefined, eventCount: number, serial: number): Block {
  const number = parent === undefined ? 0 : parent.number + 1
  return { number, hash: `0x${serial}`, parentHash: parent?.hash ?? '0x', parent, eventCount }
}

/** The block and those before it, the latest first, down to `end`, which is excluded. */
function* backFrom(block: Block | undefined, end?: Block): Generator<Block> {
  for (let at = block; at !== undefined && at !== end; at = at.parent) yield at
}

function ancestorOf(block: Block, depth: number): Block {
  let at = block
  for (let left = depth; left > 0 && at.parent !== undefined; left--) at = at.parent
  return at
}

function ancestorAt(block: Block, number: number): Block {
  return ancestorOf(block, block.number - number)
}

function eventsOf({ hash, number, eventCount }: Block): BlockEvent[] {
  return Array.from({ length: eventCount }, (_, index) => ({ id: `${hash}/${index}`, blockNumber: number }))
}

/** All blocks of the network, and its heads, one by one. */
function createNetwork() {
  const blocks: [Block, ...Block[]] = [grow(undefined, 0, 0)]
  const byHash = new Map<Hex, Block>()
  let head = blocks[0]
  return {
    genesis: head,
    get(hash: Hex): Block {
      const block = byHash.get(hash)
      if (block === undefined) throw new Error(`no block ${hash} to fetch`)
      return block
    },
    nextHead({ on, grown }: Move): Block {
      head = 'index' in on ? (blocks[on.index % blocks.length] ?? head) : ancestorOf(head, on.belowHead)
      for (const eventCount of grown) {
        head = grow(head, eventCount, blocks.length)
        blocks.push(head)
        byHash.set(head.hash, head)
      }
      return head
    },
  }
}

/** Receives events in order. Throws when one comes twice, or when one that is not the latest is removed. */
function createSubscriber() {
  const remaining: BlockEvent[] = []
  let receivedCount = 0
  return {
    remaining,
    receivedCount: () => receivedCount,
    publish({ id, blockNumber, isReversion }: ReceivedEvent): void {
      receivedCount++
      if (!isReversion) {
        if (remaining.some((event) => event.id === id)) throw new Error(`${id} came twice`)
        remaining.push({ id, blockNumber })
      } else {
        const latest = remaining.pop()
        if (latest?.id !== id) throw new Error(`${id} was removed, and the latest was ${latest?.id}`)
      }
    },
  }
}

/** Follows the heads, and compares each result of `reconcile` with the tree of blocks. */
function createBlockPoller(network: ReturnType<typeof createNetwork>, maxLength: number) {
  const subscriber = createSubscriber()
  const kinds: string[] = []
  let chain: LocalChain = [network.genesis]
  /** The events after this block are published. */
  let start: Block = network.genesis

  function append(block: Block): void {
    chain = extend(chain, [block], maxLength)
    for (const event of eventsOf(block)) subscriber.publish({ ...event, isReversion: false })
  }

  function remove(latestFirst: readonly BlockEvent[]): void {
    for (const event of latestFirst) subscriber.publish({ ...event, isReversion: true })
  }

  function process(block: Block, restartDepth: number): void {
    const step = reconcile(chain, block)
    kinds.push(kindOf(chain, block, step))
    expect(step, 'the step').toEqual(expectedStep(chain, block))
    switch (step.kind) {
      case 'append':
        append(block)
        break
      case 'gap':
        for (let number = step.from; number <= step.to; number++) {
          process(ancestorAt(block, number), restartDepth)
        }
        process(block, restartDepth)
        break
      case 'fork':
        process(network.get(step.parentHash), restartDepth)
        process(block, restartDepth)
        break
      case 'reorganisation': {
        const kept = truncateAfter(chain, step.ancestor)
        const dropped = chain.slice(kept.length).map(({ hash }) => network.get(hash))
        remove(dropped.flatMap(eventsOf).reverse())
        chain = kept
        append(block)
        break
      }
      case 'lost': {
        start = ancestorOf(block, 1 + restartDepth)
        const firstWrong = Math.min(chain[0].number, start.number + 1)
        remove(subscriber.remaining.filter(({ blockNumber }) => blockNumber >= firstWrong).reverse())
        chain = [start]
        process(block, restartDepth)
        break
      }
    }
  }

  return { subscriber, kinds, process, chain: () => chain, start: () => start }
}

/** The expected step, from the whole tree of blocks instead of the block's parent alone. */
function expectedStep(chain: LocalChain, block: Block): Step {
  const [oldest, last] = [chain[0], tipOf(chain)]
  if (block.number > last.number + 1) return { kind: 'gap', from: last.number + 1, to: block.number - 1 }
  if (block.number < oldest.number || chain.some(({ hash }) => hash === block.hash)) return { kind: 'known' }
  const branch = [...backFrom(block)]
  const ancestor = chain.findLast(({ hash }) => branch.some((each) => each.hash === hash))
  if (ancestor === last) return { kind: 'append' }
  if (ancestor?.number === block.number - 1) return { kind: 'reorganisation', ancestor }
  const isParentOutside = block.number - 1 <= oldest.number
  return isParentOutside ? { kind: 'lost' } : { kind: 'fork', parentHash: block.parentHash }
}

function kindOf(chain: LocalChain, block: Block, { kind }: Step): string {
  if (kind === 'known' && block.number < chain[0].number) return 'older'
  if (kind === 'reorganisation') return block.number === tipOf(chain).number ? 'replaces last' : 'goes back'
  return kind
}

function isLinked(chain: LocalChain): boolean {
  return chain.every((block, index) => {
    const parent = chain[index - 1]
    return parent === undefined || (block.parentHash === parent.hash && block.number === parent.number + 1)
  })
}

test('a subscriber has the events of the followed branch, whatever the network does', () => {
  const counts = new Map<string, number>()
  fc.assert(
    fc.property(histories, ({ maxLength, moves }) => {
      const network = createNetwork()
      const { subscriber, kinds, process, ...poller } = createBlockPoller(network, maxLength)
      for (const each of moves) {
        const head = network.nextHead(each)
        const before = { chain: poller.chain(), receivedCount: subscriber.receivedCount() }
        kinds.length = 0
        process(head, each.restartDepth)
        for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1)

        const chain = poller.chain()
        if (kinds[0] === 'known' || kinds[0] === 'older') {
          expect({ chain, receivedCount: subscriber.receivedCount() }).toEqual(before)
          continue
        }
        expect(tipOf(chain).hash).toBe(head.hash)
        expect(blockAt(chain, head.number)).toBe(tipOf(chain))
        expect(chain.length).toBeLessThanOrEqual(maxLength)
        expect(isLinked(chain)).toBe(true)
        const start = poller.start()
        const published = subscriber.remaining.filter(({ blockNumber }) => blockNumber > start.number)
        expect(published).toEqual([...backFrom(head, start)].reverse().flatMap(eventsOf))
      }
    }),
    { seed: SEED, numRuns: RUNS },
  )
  for (const kind of ['known', 'older', 'append', 'gap', 'fork', 'replaces last', 'goes back', 'lost']) {
    expect(counts.get(kind), kind).toBeGreaterThan(RUNS / 10)
  }
})
