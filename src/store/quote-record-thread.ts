import { parentPort, workerData } from 'node:worker_threads'
import { createBirpc } from 'birpc'
import { openQuoteRecordTable } from './quote-record-sqlite.js'

// With the code of the fault, by which the service knows whether it may end.
const table = await openQuoteRecordTable(workerData).catch(({ message, cause, stack }) => {
  throw toNativeError({ name: 'Error', message, code: cause?.code, stack })
})
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
