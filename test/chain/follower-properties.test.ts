import { pino } from 'pino'
import { expect, it } from 'vitest'
import { createBlockProcessor } from '../../src/chain/block-processor.js'
import { createFollower } from '../../src/chain/follower.js'
import type { ChainConfig } from '../../src/config.js'
import type { PlacedEvent } from '../../src/domain/block.js'
import { createRandom } from '../random.js'
import { createLyingNode, createModelChain, createModelJournal } from './lying-node.js'

/** How many histories each property is tried with. */
const SEEDS = Number(process.env.CHAIN_SEEDS ?? 60)
const MOVES = 15
const TIMEOUT_MS = 20_000 + SEEDS * 100
/** Looks with true answers after which all must be read: a lower head on another fork is believed the third time. */
const HONEST_LOOKS = 4
const MAX_REORG_DEPTH = 8

function createHistory(seed: number, confirmations: number) {
  const random = createRandom(seed)
  const chain = createModelChain(random)
  const node = createLyingNode(chain, random)
  const { journal, ...written } = createModelJournal(random)
  const log = pino({ level: 'silent' })
  const config = { chainId: 1, settlement: `0x${'22'.repeat(20)}`, startBlock: 0, confirmations } as const
  const options = { config: config as unknown as ChainConfig, maxReorgDepth: MAX_REORG_DEPTH, log }
  const listener = { onNews() {}, onReorganisation() {}, onAnnounced() {} }
  const blocks = createBlockProcessor({ ...options, journal, listener })
  const follower = createFollower({ ...options, blocks })
  const run = { signal: new AbortController().signal, onProgress() {}, onBackfill() {} }

  async function look(lies: number, failures: number): Promise<void> {
    node.allow(lies)
    written.allow(failures)
    await follower.follow(node.reader, await node.reader.head(), run)
  }

  async function play(nextMove: (move: number) => void): Promise<void> {
    for (let move = 0; move < MOVES; move++) {
      nextMove(move)
      for (let left = random.integer(0, 3); left > 0; left--) {
        await look(random.integer(0, 3), random.integer(0, 1)).catch((error: Error) => {
          if (error.message === 'the node is asked for ever' || /came twice/.test(error.message)) throw error
        })
      }
    }
    for (let left = HONEST_LOOKS; left > 0; left--) await look(0, 0)
  }

  /** The orders whose events stand or were removed, and those of the chain up to the last confirmed block. */
  function result() {
    const lastConfirmed = chain.tip().number - confirmations
    const confirmed = chain.events().filter(({ event }) => event.blockNumber <= lastConfirmed)
    const ordersOf = (events: readonly PlacedEvent[]) => events.map(({ event }) => event.orderId)
    return {
      standing: ordersOf(written.standing()),
      removed: ordersOf(written.removed),
      expected: ordersOf(confirmed),
      all: ordersOf(chain.events()),
    }
  }

  return { random, chain, play, result }
}

const seeds = Array.from({ length: SEEDS }, (_, index) => index + 1)

it(
  'whatever a node and a database get wrong, every event of the chain is written once and in order',
  async () => {
    let removals = 0
    for (const seed of seeds) {
      const { random, chain, play, result } = createHistory(seed, seed % 3)
      await play(() => {
        if (random.integer(0, 2) === 0) chain.reorganise(random.integer(1, MAX_REORG_DEPTH * 3))
        else chain.grow(random.integer(0, 20))
      }).catch((error) => expect.fail(`seed ${seed}: ${error}`))
      const { standing, removed, expected, all } = result()
      // Blocks of a wrong head may have confirmed events of the chain early.
      expect(standing, `seed ${seed}`).toEqual(all.slice(0, Math.max(expected.length, standing.length)))
      removals += removed.length
    }
    expect(removals).toBeGreaterThan(SEEDS)
  },
  TIMEOUT_MS,
)

it(
  'while a chain only grows, no wrong head and no failure removes an event of the chain',
  async () => {
    for (const seed of seeds) {
      const { random, chain, play, result } = createHistory(seed, 0)
      await play(() => chain.grow(random.integer(0, 20))).catch((error) =>
        expect.fail(`seed ${seed}: ${error}`),
      )
      const { standing, removed, expected } = result()
      expect(standing, `seed ${seed}`).toEqual(expected)
      const wereOnChain = new Set(expected)
      expect(
        removed.filter((orderId) => wereOnChain.has(orderId)),
        `seed ${seed}`,
      ).toEqual([])
    }
  },
  TIMEOUT_MS,
)
