import { Worker } from 'node:worker_threads'
import { createBirpc } from 'birpc'
import { LRUCache } from 'lru-cache'
import { openQuoteRecordTable } from './quote-record-sqlite.js'
import type { QuoteRecordStore, StoredQuoteRecord } from './quote-record-store.js'

/** All that the thread holds is a batch of texts; with room for more, it would take more. */
const resourceLimits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 }
/** Without a file, so many of the last records are kept. */
const MAX_IN_MEMORY = 10_000

/**
 * Opens the store of records: a file beside the database, written in a thread of its own, since writing keeps the
 * thread that does it waiting for the disk. With `:memory:`, the last 10,000 records are kept in memory.
 * @param dbPath the database's. When the file cannot be opened, every call fails; the first `prune` with a ConfigError
 */
export function openQuoteRecordFile(dbPath: string): QuoteRecordStore {
  return dbPath === ':memory:' ? createMemoryStore() : createFileStore(`${dbPath}-quotes`)
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

/** The thread starts with the first record, since until then it would take memory for nothing; and anew when it has failed. */
function createFileStore(path: string): QuoteRecordStore {
  let thread: QuoteRecordStore | undefined
  const inThread = () => {
    thread ??= openInThread(path, () => {
      thread = undefined
    })
    return thread
  }
  return {
    save: (records) => inThread().save(records),
    read: (quoteId) => inThread().read(quoteId),
    async prune(before) {
      if (thread !== undefined) return thread.prune(before)
      const table = await openQuoteRecordTable(path)
      await table.prune(before)
      await table.close()
    },
    close: async () => thread?.close(),
  }
}

function openInThread(path: string, onFailed: () => void): QuoteRecordStore {
  const worker = startThread(path)
  const thread = createBirpc<QuoteRecordStore>(
    {},
    {
      post: (message) => worker.postMessage(message),
      on: (listener) => worker.on('message', listener),
    },
  )
  worker.once('error', (error) => {
    onFailed()
    thread.$close(error)
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
    return new Worker(new URL('./quote-record-thread.js', import.meta.url), { workerData, resourceLimits })
  const source = new URL('./quote-record-thread.ts', import.meta.url).href
  const script = `import('tsx/esm/api').then(({ register }) => (register(), import('${source}')))`
  return new Worker(script, { eval: true, workerData, resourceLimits })
}
