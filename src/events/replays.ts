import type { EventFilter } from '../../packages/protocol/src/orders/event.js'
import { ClientCounts } from '../clients/client-counts.js'
import type { ClientId } from '../clients/client-id.js'
import { FairQueue } from '../concurrency/fair-queue.js'
import { type BackfillPages, type LogPart, nameFilter, type PageRange } from './backfill-pages.js'

/** One subscriber's replay of the part of the log that is not in memory. */
export interface Replay {
  /**
   * The next part of the log. It waits while too many replays are running, unless another replay reads the same page.
   * @returns undefined when the log no longer has it; never resolves after the replay has ended
   */
  next(sequence: number, lastSequence: number): Promise<LogPart | undefined>
  /** Ends the replay, or its wait. A later `next` begins again. */
  end(): void
}

/** The replays of all clients (docs/decisions.md, D14). */
export interface Replays {
  of(client: ClientId, filter: EventFilter): Replay
  /** The number of replays that read the log, and the number that wait. */
  counts(): { readonly running: number; readonly waiting: number }
}

const MAX_REPLAYS_OF_CLIENT = 4
const MAX_REPLAYS = 32
/** Pages that a replay reads before it goes to the end of the queue, if others wait. */
const PAGES_PER_TURN = 64
/** A replay that requests nothing for this time loses its turn to one that waits. */
const MAX_IDLE_MS = 100

interface Waiter {
  readonly client: ClientId
  readonly range: PageRange
  /** Lets the replay read, or passes it the page that another replay reads. */
  readonly go: (page?: Promise<LogPart | undefined>) => void
}

/**
 * Builds the replays over the pages of a log. Only a replay that reads from the database counts. A replay whose page
 * others have read lately, or are reading, shares that page. So any number of clients that reconnect at about the same
 * position cost no more than one.
 */
export function createReplays(pages: BackfillPages): Replays {
  const running = new ClientCounts({
    perClient: MAX_REPLAYS_OF_CLIENT,
    total: MAX_REPLAYS,
    ofKeys: { name: 'replays', factor: 1 },
  })
  const runners = new Set<Runner>()
  const queue = new FairQueue<Waiter>()
  const waitersAt = new Map<string, Set<Waiter>>()
  let idleTimer: NodeJS.Timeout | undefined

  function startWaiting(): void {
    while (running.held < MAX_REPLAYS) {
      const waiter = queue.take((client) => running.fullAt(client) === undefined)
      if (waiter === undefined) break
      forget(waiter)
      waiter.go()
    }
    if (queue.size > 0 && idleTimer === undefined) idleTimer = setTimeout(stopIdle, MAX_IDLE_MS).unref()
  }

  function stopIdle(): void {
    idleTimer = undefined
    if (queue.size === 0) return
    for (const runner of runners) if (runner.isIdle()) runner.stop()
    startWaiting()
  }

  function forget(waiter: Waiter): void {
    queue.delete(waiter)
    const others = waitersAt.get(waiter.range.name)
    others?.delete(waiter)
    if (others?.size === 0) waitersAt.delete(waiter.range.name)
  }

  function enqueue(waiter: Waiter): void {
    queue.add(waiter)
    const others = waitersAt.get(waiter.range.name) ?? new Set()
    waitersAt.set(waiter.range.name, others.add(waiter))
    startWaiting()
  }

  /** Reads a page for all replays that wait for it. */
  function read(range: PageRange): Promise<LogPart | undefined> {
    const page = pages.read(range)
    for (const waiter of [...(waitersAt.get(range.name) ?? [])]) {
      forget(waiter)
      waiter.go(page)
    }
    return page
  }

  class Runner implements Replay {
    readonly #client: ClientId
    readonly #filter: ReturnType<typeof nameFilter>
    #isRunning = false
    #pages = 0
    #idleSince: number | undefined
    #waiter: Waiter | undefined

    constructor(client: ClientId, filter: EventFilter) {
      this.#client = client
      this.#filter = nameFilter(filter)
    }

    async next(sequence: number, lastSequence: number): Promise<LogPart | undefined> {
      const range = pages.rangeOf(this.#filter, sequence, lastSequence)
      const page = pages.find(range) ?? this.#readInTurn(range)
      this.#idleSince = undefined
      const part = await page.finally(() => {
        this.#idleSince = performance.now()
      })
      return part === undefined ? undefined : partAfter(part, range, sequence)
    }

    #readInTurn(range: PageRange): Promise<LogPart | undefined> {
      if (this.#isRunning && this.#pages >= PAGES_PER_TURN && queue.size > 0) {
        this.stop()
        startWaiting()
      }
      if (this.#isRunning) return this.#read(range)
      return new Promise((resolve) => {
        const go: Waiter['go'] = (page) => {
          this.#waiter = undefined
          if (page === undefined) this.#start()
          resolve(page ?? this.#read(range))
        }
        this.#waiter = { client: this.#client, range, go }
        enqueue(this.#waiter)
      })
    }

    #start(): void {
      this.#isRunning = true
      this.#pages = 0
      running.add(this.#client)
      runners.add(this)
    }

    #read(range: PageRange): Promise<LogPart | undefined> {
      this.#pages++
      return read(range)
    }

    isIdle(): boolean {
      return this.#idleSince !== undefined && performance.now() - this.#idleSince >= MAX_IDLE_MS
    }

    /** Frees the replay's slot for others. */
    stop(): void {
      if (!this.#isRunning) return
      this.#isRunning = false
      running.remove(this.#client)
      runners.delete(this)
    }

    end(): void {
      if (this.#waiter !== undefined) forget(this.#waiter)
      this.#waiter = undefined
      if (!this.#isRunning) return
      this.stop()
      startWaiting()
    }
  }

  return {
    of: (client, filter) => new Runner(client, filter),
    counts: () => ({ running: running.held, waiting: queue.size }),
  }
}

/** The part of a page after a sequence. */
function partAfter(part: LogPart, range: PageRange, sequence: number): LogPart | undefined {
  if (range.filter.name !== '') return part
  const entries =
    part.entries[0]?.sequence === sequence + 1
      ? part.entries
      : part.entries.filter((entry) => entry.sequence > sequence)
  // Sequences have no gaps, so a missing entry is no longer kept.
  return entries[0]?.sequence === sequence + 1 ? { ...part, entries } : undefined
}
