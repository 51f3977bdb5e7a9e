import type { ChainConfig } from '../config.js'
import type { BlockHeader } from '../domain/block.js'
import type { Logger } from '../telemetry/log.js'
import type { BlockProcessor, Outcome } from './block-processor.js'
import type { BlockReader } from './block-reader.js'
import type { TimedHeader } from './headers.js'
import { blockAt, type LocalChain, reconcile, tipOf } from './local-chain.js'
import { createRangeReader } from './range-reader.js'

/** Keeps the local chain and the journal up with a chain. */
export interface HeadSync {
  /** The last block of the local chain; undefined until the first head was followed. */
  last(): BlockHeader | undefined
  /** The last block whose events are in the journal. */
  published(): number | undefined
  /** Whether it is so far behind that it reads ranges. */
  isBackfilling(): boolean
  /**
   * Reads and announces what leads to a head. Whatever fails on the way, what was announced is in the journal, and
   * following a later head goes on from there. After blocks were removed, the head is read again; when others would
   * have to be removed as well, the pass fails.
   * @returns `behind` when the head is older than the known blocks
   * @throws EventSinkError, and what the reader throws
   */
  follow(reader: BlockReader, head: TimedHeader, run: Run): Promise<'followed' | 'behind'>
}

/** One run of following; it may be long. */
interface Run {
  readonly signal: AbortSignal
  /** Called whenever the local chain has moved and what is confirmed has been written. */
  readonly onProgress: () => void
  /** Called when it turns out to be a long one. */
  readonly onBackfill: () => void
}

interface HeadSyncOptions {
  readonly config: Pick<ChainConfig, 'chainId' | 'confirmations'>
  /** How many blocks a reorganisation may remove. */
  readonly maxReorgDepth: number
  readonly blocks: BlockProcessor
  readonly log: Logger
}

/** Blocks read at once near the head. */
const STEP_BLOCKS = 25
/** How often in a row a lower head on another fork must be seen before it is followed: a single one may lag. */
const LOWER_FORK_SIGHTINGS = 3

/** Builds the follower of one chain. */
export function createHeadSync(options: HeadSyncOptions): HeadSync {
  const { config, maxReorgDepth, blocks, log } = options
  /** Blocks up to here below the head can still change or are not confirmed: they are read one by one. */
  const liveDepth = maxReorgDepth + config.confirmations
  const readRange = createRangeReader(config.chainId, log)
  let lowerForkSightings = 0
  let isBackfilling = false

  /** Reads what leads to a head, until blocks had to be removed. */
  async function reach(reader: BlockReader, head: TimedHeader, run: Run): Promise<Outcome> {
    const isFar = head.number - tipOf(blocks.chain()).number > liveDepth
    if (isFar && (await backfill(reader, head, run)) === 'removed') return 'removed'
    isBackfilling = false
    return catchUp(reader, head, run)
  }

  /** Reads ranges up to where blocks are read one by one. */
  async function backfill(reader: BlockReader, head: TimedHeader, run: Run): Promise<Outcome> {
    isBackfilling = true
    run.onBackfill()
    for (;;) {
      run.signal.throwIfAborted()
      const last = tipOf(blocks.chain())
      if (head.number - last.number <= liveDepth) return 'added'
      const range = await readRange(reader, last, head.number - liveDepth)
      // Whatever the first block of a chain names as its parent.
      const isLinked = last.number < 0 || range.first.parentHash === last.hash
      if (isLinked) {
        const events = await reader.attachSolvers(range.events, head.number)
        // The journal keeps no blocks from before a range, so a restart could not read them again.
        await blocks.recheck(reader, range.end.number)
        await blocks.addRange({ ...range, events })
      } else await blocks.add(reader, [range.first], head.number)
      run.onProgress()
      if (!isLinked) return 'removed'
    }
  }

  /** Reads blocks one by one up to a head. */
  async function catchUp(reader: BlockReader, head: TimedHeader, run: Run): Promise<Outcome> {
    for (;;) {
      run.signal.throwIfAborted()
      const step = reconcile(blocks.chain(), head)
      if (step.kind === 'known') return 'added'
      const headers =
        step.kind === 'gap'
          ? await reader.headers(step.from, Math.min(step.to, step.from + STEP_BLOCKS - 1))
          : [head]
      const outcome = await blocks.add(reader, headers, head.number)
      run.onProgress()
      if (outcome === 'removed') return outcome
    }
  }

  /** Whether a head says nothing new, or nothing that may be believed yet. */
  function isBehind(peek: LocalChain, head: BlockHeader): boolean {
    const last = tipOf(peek)
    if (head.number >= last.number) {
      lowerForkSightings = 0
      return false
    }
    const isKnown = head.number < peek[0].number || blockAt(peek, head.number)?.hash === head.hash
    lowerForkSightings = isKnown ? 0 : lowerForkSightings + 1
    return isKnown || lowerForkSightings < LOWER_FORK_SIGHTINGS
  }

  return {
    last: blocks.last,
    published: blocks.published,
    isBackfilling: () => isBackfilling,

    async follow(reader, head, run) {
      const peek = await blocks.open(reader, head)
      if (peek === undefined) return 'followed'
      if (isBehind(peek, head)) return 'behind'
      blocks.beginPass()
      let target = head
      // What has replaced blocks may have replaced the head as well.
      while ((await reach(reader, target, run)) === 'removed') target = await reader.head()
      await blocks.recheck(reader, target.number)
      return 'followed'
    },
  }
}
