import { existsSync } from 'node:fs'
import { createBirpc } from 'birpc'
import { startThread } from '../concurrency/start-thread.js'
import type { Logger } from '../telemetry/log.js'
import { nameUnavailable } from './database-unavailable.js'
import { openQuoteRecordTable, type QuoteRecordFile } from './quote-record-sqlite.js'
import type { QuoteRecordStore, RecordPage } from './quote-record-store.js'
import { faultErrorOf, faultOf } from './sqlite-faults.js'
import type { Fault } from './write-health.js'

/** The thread holds only one batch of texts. Without a limit, it would use more memory. */
const resourceLimits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 }
/** Most bytes of records without a file. Ten solvers make records of 2 KiB. */
const MAX_IN_MEMORY_BYTES = 32 * 2 ** 20

/**
 * Opens the store of records: a file next to the database. A thread of its own writes it, because a write blocks its
 * thread while it waits for the disk. With `:memory:`, the records are in this thread's memory, at most 32 MiB.
 * @param dbPath the path of the database
 * @param maxBytes limits the file, or the records in memory
 * @throws ConfigError when the file cannot be used, or another version wrote it
 */
export async function openQuoteRecordFile(
  dbPath: string,
  maxBytes: number,
  log: Logger,
): Promise<QuoteRecordStore> {
  if (dbPath === ':memory:')
    return openQuoteRecordTable({ path: dbPath, maxBytes: Math.min(maxBytes, MAX_IN_MEMORY_BYTES) })
  const file = { path: `${dbPath}-quotes`, maxBytes }
  const isNew = !existsSync(file.path)
  const table = await openQuoteRecordTable(file)
  await table.close()
  return reportFaults(createFileStore(file, isNew), file.path, log)
}

/** Logs once why records cannot be written. Keeps records waiting if the fault may end. */
function reportFaults(store: QuoteRecordStore, path: string, log: Logger): QuoteRecordStore {
  let reported: Fault | undefined
  const save: QuoteRecordStore['save'] = async (records) => {
    try {
      await store.save(records)
      reported = undefined
    } catch (error) {
      const fault = faultOf(error)
      if (fault !== undefined && fault !== reported)
        log.error({ path, reason: (error as Error).message }, `quotes cannot be recorded: ${fault.text}`)
      reported = fault
      throw error
    }
  }
  const causeOf = (error: unknown) => (faultOf(error)?.isLasting ? undefined : faultErrorOf(error))
  return nameUnavailable({ ...store, save }, causeOf)
}

const NO_RECORDS: RecordPage = { records: [], next: undefined }

/**
 * Starts the thread on the first write, read or removal, because it takes memory. After a failure of the thread, the next
 * call starts it again.
 */
function createFileStore(file: QuoteRecordFile, isNew: boolean): QuoteRecordStore {
  let thread: QuoteRecordStore | undefined
  let isClosed = false
  const isEmpty = () => isNew && thread === undefined
  const inThread = () => {
    if (isClosed) throw new Error('The store of quote records is closed.')
    thread ??= openInThread(file, () => {
      thread = undefined
    })
    return thread
  }
  return {
    save: async (records) => inThread().save(records),
    read: async (quoteId) => inThread().read(quoteId),
    list: async (filter) => (isEmpty() ? NO_RECORDS : inThread().list(filter)),
    pruneSome: async (before) => !isEmpty() && inThread().pruneSome(before),
    usedBytes: async () => (isEmpty() ? 0 : inThread().usedBytes()),
    async close() {
      if (!isClosed) {
        isClosed = true
        await thread?.close()
      }
    },
  }
}

function openInThread(file: QuoteRecordFile, onFailed: () => void): QuoteRecordStore {
  const worker = startThread('quote-record-thread', import.meta.url, file, resourceLimits)
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
    list: thread.list,
    pruneSome: thread.pruneSome,
    usedBytes: thread.usedBytes,
    async close() {
      await thread.close()
      await worker.terminate()
    },
  }
}
