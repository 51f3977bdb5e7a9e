import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../packages/protocol/src/clock.js'
import { ClientCounts } from '../clients/client-counts.js'
import type { ClientId } from '../clients/client-id.js'
import { FairQueue } from '../concurrency/fair-queue.js'

/** A read that has its place in the queue. */
export interface QueuedRead<T> {
  readonly answer: Promise<T>
  /** Gives up the place of a read that has not begun: its `answer` never resolves. */
  cancel(): void
}

interface Waiting {
  readonly client: ClientId
  read(): Promise<void>
  isKnown(): boolean
}

const MAX_READS_OF_CLIENT = 4
const MAX_READS = 32
/** The queue rests for this multiple of the time that its reads took, so that they take at most a third of it. */
const REST_FACTOR = 2
/** Shortest rest. Shorter ones are added up until then. */
const MIN_REST_MS = 1
/** Longest rest. A read may have taken long because the database was unavailable. */
const MAX_REST_MS = 100

/**
 * The reads of the log for replays and for cursors. A client, a network and all have a number of reads at the same time
 * (docs/decisions.md, D14). The others wait, and each client gets equal turns.
 *
 * SQLite reads in the main thread. So at most one read begins in each turn of the event loop, and the queue rests in
 * proportion to the time that its reads took. Other requests are served meanwhile, however many reads wait.
 */
export class ReadQueue {
  readonly #clock: Clock
  readonly #running = new ClientCounts({
    perClient: MAX_READS_OF_CLIENT,
    total: MAX_READS,
    ofKeys: { name: 'replays', factor: 1 },
  })
  readonly #waiting = new FairQueue<Waiting>()
  #isStarting = false
  #restDueMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Runs a read when its turn has come.
   * @param isKnown whether `read` needs the database no more, because another read has begun: then it takes no turn
   */
  add<T>(client: ClientId, read: () => Promise<T>, isKnown = () => false): QueuedRead<T> {
    let cancel = () => {}
    const answer = new Promise<T>((resolve, reject) => {
      const queued: Waiting = { client, read: () => read().then(resolve, reject), isKnown }
      cancel = () => this.#waiting.delete(queued)
      this.#waiting.add(queued)
    })
    void this.#start()
    return { answer, cancel }
  }

  /** The number of reads that run, and the number that wait. */
  counts(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running.held, waiting: this.#waiting.size }
  }

  async #start(): Promise<void> {
    if (this.#isStarting) return
    this.#isStarting = true
    for (;;) {
      await nextTurn()
      await this.#restWhenDue()
      const next = this.#take()
      if (next === undefined) break
      void this.#run(next)
    }
    this.#isStarting = false
  }

  /** The next read that needs the database. */
  #take(): Waiting | undefined {
    for (;;) {
      const next = this.#waiting.take((client) => this.#running.fullAt(client) === undefined)
      if (!next?.isKnown()) return next
      void next.read()
    }
  }

  async #run({ client, read }: Waiting): Promise<void> {
    this.#running.add(client)
    const startedAt = this.#clock.monotonic()
    await read()
    this.#restDueMs += (this.#clock.monotonic() - startedAt) * REST_FACTOR
    this.#running.remove(client)
    void this.#start()
  }

  async #restWhenDue(): Promise<void> {
    if (this.#waiting.size === 0 || this.#restDueMs < MIN_REST_MS) return
    const restMs = Math.min(this.#restDueMs, MAX_REST_MS)
    this.#restDueMs = 0
    await this.#clock.sleep(restMs)
  }
}
