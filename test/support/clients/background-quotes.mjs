import { setTimeout as pause } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

/** A thread that requests one quote after the other until it gets a message. It then sends its results. */
const PAUSE_MS = 25
const { url, body, headers } = workerData
const statuses = {}
let isStopping = false
let slowestMs = 0

parentPort.once('message', () => {
  isStopping = true
})

async function ask() {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  })
  await response.text()
  return response.status
}

while (!isStopping) {
  const start = performance.now()
  const status = await ask().catch((error) => error.cause?.code ?? error.message)
  slowestMs = Math.max(slowestMs, performance.now() - start)
  statuses[status] = (statuses[status] ?? 0) + 1
  await pause(PAUSE_MS)
}
parentPort.postMessage({ statuses, slowestMs })
