import { LRUCache } from 'lru-cache'
import { FairQueue } from '../concurrency/fair-queue.js'
import { ClientCounts, type ClientId } from '../domain/client.js'
import type { EnqueueRead } from './read-queue.js'
import type { Entry } from './tail-buffer.js'

/** Confirms cursors of entries that are not in memory. Each confirmation reads one entry. */
export interface Confirmations {
  /** Whether this cursor has been confirmed. */
  has(cursor: string): boolean
  /**
   * Reads the entry of a cursor in the client's turn. After that, `has` is true if the entry has this cursor.
   * @throws ServiceError DATABASE_UNAVAILABLE
   */
  confirm(cursor: string, sequence: number, client: ClientId): Promise<void>
  /** Removes all confirmations, because the log has another history now. */
  clear(): void
}

interface Waiter {
  readonly client: ClientId
  readonly cursor: string
  read(): Promise<unknown>
  done(): void
  fail(error: unknown): void
}

/** Reads of one client, and of all, in the read queue at once. Others wait, so that replays continue meanwhile. */
const MAX_READS_OF_CLIENT = 2
const MAX_READS = 8
const MAX_CONFIRMED = 10_000

/**
 * Builds the confirmations. Each network and each client gets equal turns, so that many invalid cursors delay only the
 * client that sends them. Clients that wait with the same cursor share one read.
 */
export function createConfirmations(
  readEntry: (sequence: number) => Promise<Entry | undefined>,
  enqueueRead: EnqueueRead,
): Confirmations {
  let confirmed = new LRUCache<string, true>({ max: MAX_CONFIRMED })
  const running = new ClientCounts({ perClient: MAX_READS_OF_CLIENT, total: MAX_READS })
  const queue = new FairQueue<Waiter>()

  async function run({ client, cursor, read, done, fail }: Waiter): Promise<void> {
    running.add(client)
    try {
      await (confirmed.has(cursor) ? undefined : enqueueRead(read))
      done()
    } catch (error) {
      fail(error)
    }
    running.remove(client)
    startWaiting()
  }

  function startWaiting(): void {
    while (running.held < MAX_READS) {
      const waiter = queue.take((client) => running.fullAt(client) === undefined)
      if (waiter === undefined) return
      void run(waiter)
    }
  }

  return {
    has: (cursor) => confirmed.has(cursor),
    confirm: (cursor, sequence, client) =>
      new Promise((done, fail) => {
        async function read(): Promise<void> {
          const history = confirmed
          const entry = await readEntry(sequence)
          if (entry?.cursor === cursor) history.set(cursor, true)
        }
        queue.add({ client, cursor, read, done, fail })
        startWaiting()
      }),
    clear() {
      confirmed = new LRUCache({ max: MAX_CONFIRMED })
    },
  }
}
