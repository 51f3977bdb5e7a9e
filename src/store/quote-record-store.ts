import { Worker } from 'node:worker_threads'
import { createBirpc } from 'birpc'
import { LRUCache } from 'lru-cache'
import { ConfigError } from '../environment.js'

/** The record of a quote as it is kept. */
export interface StoredQuoteRecord {
  readonly quoteId: string
  /** Unix time in milliseconds. */
  readonly requestedAt: number
  /** JSON of a QuoteRecord: nothing that threads hand to each other is cheaper than text. */
  readonly record: string
}

/** Keeps records of quotes. */
export interface QuoteRecordStore {
  save(records: readonly StoredQuoteRecord[]): Promise<void>
  /** @returns the record's JSON */
  read(quoteId: string): Promise<string | undefined>
  /** Removes what was asked for before this time, Unix milliseconds. */
  prune(before: number): Promise<void>
  close(): Promise<void>
}

/** Without a file, so many of the last records are kept. */
const MAX_IN_MEMORY = 10_000

/**
 * Opens the store of records: a file beside the database, written in a thread of its own, since writing keeps the
 * thread that does it waiting for the disk. With `:memory:`, the last 10,000 records are kept in memory.
 * @param dbPath the database's. When the file cannot be opened, every call fails with a ConfigError
 */
export function openQuoteRecordStore(dbPath: string): QuoteRecordStore {
  return dbPath === ':memory:' ? createMemoryStore() : openInThread(`${dbPath}-quotes`)
}

function createMemoryStore(): QuoteRecordStore {
  const records = new LRUCache<string, StoredQuoteRecord>({ max: MAX_IN_MEMORY })
  return {
    async save(batch) {
      for (const record of batch) records.set(record.quoteId, record)
    },
    read: async (quoteId) => records.peek(quoteId)?.record,
    async prune(before) {
      for (const [quoteId, { requestedAt }] of records) if (requestedAt < before) records.delete(quoteId)
    },
    close: async () => records.clear(),
  }
}

function openInThread(path: string): QuoteRecordStore {
  const worker = startThread(path)
  const thread = createBirpc<QuoteRecordStore>(
    {},
    {
      post: (message) => worker.postMessage(message),
      on: (listener) => worker.on('message', listener),
    },
  )
  worker.once('error', (error) => {
    const message = `is ${path} for the records of quotes, which failed: ${error.message}`
    thread.$close(new ConfigError([{ variable: 'DB_PATH', message }]))
  })
  return {
    save: thread.save,
    read: thread.read,
    prune: thread.prune,
    async close() {
      await thread.close()
      await worker.terminate()
    },
  }
}

/** Threads are not given the loader of TypeScript that runs this project's sources. */
function startThread(workerData: string): Worker {
  if (!import.meta.url.endsWith('.ts'))
    return new Worker(new URL('./quote-record-thread.js', import.meta.url), { workerData })
  const source = new URL('./quote-record-thread.ts', import.meta.url).href
  const script = `import('tsx/esm/api').then(({ register }) => (register(), import('${source}')))`
  return new Worker(script, { eval: true, workerData })
}
