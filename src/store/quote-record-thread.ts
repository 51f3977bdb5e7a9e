import { parentPort, workerData } from 'node:worker_threads'
import { createBirpc } from 'birpc'
import { openQuoteRecordTable } from './quote-record-sqlite.js'

const table = await openQuoteRecordTable(workerData)
createBirpc(table, {
  post: (message) => parentPort?.postMessage(message),
  on: (listener) => parentPort?.on('message', listener),
})
