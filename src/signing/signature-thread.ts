import { parentPort } from 'node:worker_threads'
import { checkHere } from './signature-checker.js'

parentPort?.postMessage([])
// One answer for each message, in their order.
parentPort?.on('message', (claims) => parentPort?.postMessage(checkHere(claims)))
