import { parentPort, workerData } from 'node:worker_threads'
import { createBirpc } from 'birpc'
import { openQuoteRecordTable } from './quote-record-sqlite.js'

const table = await openQuoteRecordTable(workerData)
createBirpc(table, {
  post: (message) => parentPort?.postMessage(message),
  on: (listener) => parentPort?.on('message', listener),
  serialize: (message) => ('e' in message ? { ...message, e: toNativeError(message.e) } : message),
})

/** SQLite's errors are not native ones. Without this, threads would pass on only their `code`. */
function toNativeError({ message, code, stack }: Error & { code?: string }): Error {
  const error = new Error(code === undefined ? message : `${message} (${code})`)
  return Object.assign(error, { stack })
}
