import type { ChainConfig } from '../config.js'
import type { BlockHeader } from '../domain/block.js'
import type { Logger } from '../telemetry/log.js'
import { createAnnouncer, type Journal } from './announcer.js'
import type { Block, BlockReader } from './block-reader.js'
import type { TimedHeader } from './headers.js'
import { blockAt, cutAfter, extend, type LocalChain, lastOf, reconcile } from './local-chain.js'
import type { ContractNews } from './order-events.js'
import { createRangeReader } from './range-reader.js'

/** Told of what happens on the chain, confirmed or not. */
export interface ChainListener {
  onNews(news: ContractNews): void
  /** Whatever was known of the last blocks is no longer so. */
  onReorganisation(): void
  /** What happened in a block near the head has been announced. */
  onAnnounced(block: Block): void
}

/** Keeps the local chain and the journal up with a chain. */
export interface Follower {
  /** The last block of the local chain; undefined until the first head was followed. */
  last(): BlockHeader | undefined
  /** The last block whose events are in the journal. */
  announced(): number | undefined
  /** Whether it is so far behind that it reads ranges. */
  isBackfilling(): boolean
  /**
   * Reads and announces what leads to a head. Whatever fails on the way, what was announced is in the journal, and
   * following a later head goes on from there.
   * @returns `behind` when the head is older than what was seen
   */
  follow(reader: BlockReader, head: TimedHeader, run: Run): Promise<'followed' | 'behind'>
}

/** One run of following; it may be long. */
interface Run {
  readonly signal: AbortSignal
  /** Called whenever the local chain has moved. */
  readonly onProgress: () => void
  /** Called when it turns out to be a long one. */
  readonly onBackfill: () => void
}

interface FollowerOptions {
  readonly config: ChainConfig
  /** How many blocks a reorganisation may take back. */
  readonly maxReorgDepth: number
  readonly journal: Journal
  readonly listener: ChainListener
  readonly log: Logger
}

/** Blocks read at once near the head. */
const STEP_BLOCKS = 25
/** How often in a row a lower head on another fork must be seen before it is followed: a single one may lag. */
const LOWER_FORK_SIGHTINGS = 3
const BEFORE_GENESIS: BlockHeader = {
  number: -1,
  hash: `0x${'00'.repeat(32)}`,
  parentHash: `0x${'00'.repeat(32)}`,
}

/** Builds the follower of one chain. */
export function createFollower(options: FollowerOptions): Follower {
  const { config, maxReorgDepth, listener, log } = options
  const { chainId, settlement, startBlock, confirmations } = config
  /** Blocks up to here below the head can still change or are not confirmed: they are read one by one. */
  const liveDepth = maxReorgDepth + confirmations
  const readRange = createRangeReader(chainId, log)
  const { onAnnounced } = listener
  const journal = noteFailures(options.journal, () => {
    isJournalLost = true
  })
  const announcer = createAnnouncer({ maxReorgDepth, journal, onAnnounced })
  let chain: LocalChain | undefined
  let firstBlock = 0
  let headNumber = 0
  let lowerForkSightings = 0
  let isBackfilling = false
  /** Nobody can say whether what failed has been written all the same: the journal is to be opened again. */
  let isJournalLost = false

  async function open(reader: BlockReader, head: BlockHeader): Promise<LocalChain | undefined> {
    const stored = await journal.open()
    if (stored?.settlement === settlement) {
      firstBlock = stored.firstBlock
      announcer.standsAt(stored.headers.at(-1)?.number ?? 0)
      return stored.headers
    }
    if (startBlock !== undefined && startBlock > head.number + 1) return undefined
    if (stored !== undefined)
      log.warn({ chainId, was: stored.settlement }, 'another contract than before: its events are read anew')
    const root = await rootBlock(reader, head)
    await journal.begin(settlement, root)
    firstBlock = root.number + 1
    announcer.standsAt(root.number)
    return [root]
  }

  async function rootBlock(reader: BlockReader, head: BlockHeader): Promise<BlockHeader> {
    if (startBlock === undefined) return head
    return startBlock === 0 ? BEFORE_GENESIS : reader.header(startBlock - 1)
  }

  /** Reads ranges up to where blocks are read one by one. */
  async function backfill(reader: BlockReader, known: LocalChain, run: Run): Promise<LocalChain> {
    isBackfilling = true
    run.onBackfill()
    let local = await settle(reader, known)
    await announcer.announce(local, headNumber - confirmations)
    while (headNumber - lastOf(local).number > liveDepth) {
      run.signal.throwIfAborted()
      const range = await readRange(reader, lastOf(local).number + 1, headNumber - liveDepth)
      const events = await reader.withSolvers(range.events, headNumber)
      await announcer.announceRange({ ...range, events })
      local = [range.end]
      chain = local
      listener.onNews(range)
      run.onProgress()
    }
    return local
  }

  /** What is known may have left the chain long ago. */
  async function settle(reader: BlockReader, known: LocalChain): Promise<LocalChain> {
    const last = lastOf(known)
    if (last.number < 0) return known
    const canonical = await reader.header(last.number)
    return canonical.hash === last.hash ? known : place(reader, known, [canonical])
  }

  /** Reads blocks one by one up to a head. */
  async function catchUp(reader: BlockReader, known: LocalChain, head: TimedHeader, run: Run): Promise<void> {
    let local = known
    for (;;) {
      run.signal.throwIfAborted()
      // A head confirms only what it is known to stand on.
      await announcer.announce(local, lastOf(local).number - confirmations)
      const step = reconcile(local, head)
      if (step.kind === 'known') return
      const headers =
        step.kind === 'gap'
          ? await reader.headers(step.from, Math.min(step.to, step.from + STEP_BLOCKS - 1))
          : [head]
      local = await place(reader, local, headers)
      run.onProgress()
    }
  }

  /** Puts linked headers onto the local chain, after taking back what they replace. */
  async function place(
    reader: BlockReader,
    known: LocalChain,
    headers: readonly TimedHeader[],
  ): Promise<LocalChain> {
    const [first] = headers
    if (first === undefined) return known
    const step = reconcile(known, first)
    switch (step.kind) {
      case 'append':
        return grow(reader, known, headers)
      case 'reorganisation':
        return grow(reader, await cut(known, step.ancestor), headers)
      case 'fork':
        return place(reader, known, [await reader.headerOf(step.parentHash), ...headers])
      case 'lost':
        return startOver(reader, known)
      case 'known':
      case 'gap':
        throw new Error(`block ${first.number} is ${step.kind}, behind block ${lastOf(known).number}`)
    }
  }

  async function grow(reader: BlockReader, known: LocalChain, headers: readonly TimedHeader[]) {
    const withSolvers = async (block: Block) => ({
      ...block,
      events: await reader.withSolvers(block.events, headNumber),
    })
    const blocks = await Promise.all((await reader.blocks(headers)).map(withSolvers))
    chain = extend(known, headers, liveDepth)
    announcer.add(blocks)
    for (const block of blocks) listener.onNews(block)
    return chain
  }

  async function cut(known: LocalChain, ancestor: BlockHeader): Promise<LocalChain> {
    const depth = lastOf(known).number - ancestor.number
    log.warn({ chainId, depth, ancestor: ancestor.number }, 'the chain has been reorganised')
    await announcer.cutAfter(ancestor)
    chain = cutAfter(known, ancestor)
    listener.onReorganisation()
    return chain
  }

  /** Nothing known is on the chain any more: goes back to what is final, or behind everything known. */
  async function startOver(reader: BlockReader, known: LocalChain): Promise<LocalChain> {
    const oldest = known[0].number
    const final = (await reader.finalized()) ?? oldest
    const number = Math.max(firstBlock - 1, Math.min(final, oldest - 1))
    log.error(
      { chainId, maxReorgDepth, from: number + 1 },
      'a reorganisation deeper than MAX_REORG_DEPTH: all events behind that block are taken back and read anew',
    )
    const root = number < 0 ? BEFORE_GENESIS : await reader.header(number)
    await announcer.startOver(root)
    chain = [root]
    listener.onReorganisation()
    return chain
  }

  /** Whether a head says nothing new, or nothing that may be believed yet. */
  function isBehind(known: LocalChain, head: BlockHeader): boolean {
    const last = lastOf(known)
    if (head.number >= last.number) {
      lowerForkSightings = 0
      return false
    }
    const isKnown = head.number < known[0].number || blockAt(known, head.number)?.hash === head.hash
    lowerForkSightings = isKnown ? 0 : lowerForkSightings + 1
    return isKnown || lowerForkSightings < LOWER_FORK_SIGHTINGS
  }

  return {
    last: () => chain && lastOf(chain),
    announced: () => chain && announcer.announced(),
    isBackfilling: () => isBackfilling,

    async follow(reader, head, run) {
      if (chain === undefined || isJournalLost) {
        chain = await open(reader, head)
        isJournalLost = false
      }
      if (chain === undefined || isBehind(chain, head)) return 'behind'
      headNumber = head.number
      const isFar = headNumber - lastOf(chain).number > liveDepth
      const local = isFar ? await backfill(reader, chain, run) : chain
      isBackfilling = false
      await catchUp(reader, local, head, run)
      return 'followed'
    },
  }
}

/** A journal that tells of each write that fails. */
function noteFailures({ open, ...writes }: Journal, onFailed: () => void): Journal {
  const noted =
    <A extends unknown[]>(write: (...args: A) => Promise<void>) =>
    (...args: A) =>
      write(...args).catch((error) => {
        onFailed()
        throw error
      })
  return { open, begin: noted(writes.begin), append: noted(writes.append), revert: noted(writes.revert) }
}
