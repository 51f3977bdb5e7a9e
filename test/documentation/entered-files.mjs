/**
 * Loaded before a service that runs from its sources. It answers each message `entered` of its parent with the files of this
 * project of which a function ran since the message before. From the message `stop intervals` on, no interval runs its action.
 */
import { Session } from 'node:inspector/promises'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const OWN = /^(src|packages\/\w+\/src)\//

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

let isStopped = false
const startInterval = globalThis.setInterval
globalThis.setInterval = (action, ...rest) =>
  startInterval((...values) => isStopped || action(...values), ...rest)

process.on('message', async (message) => {
  if (message === 'stop intervals') {
    isStopped = true
    return
  }
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const entered = result
    .filter(({ url, functions }) => url.startsWith('file:') && functions.some(hasRun))
    .map(({ url }) => fileURLToPath(url).slice(ROOT.length))
  process.send(entered.filter((path) => OWN.test(path)))
})

function hasRun({ ranges }) {
  return ranges[0].count > 0
}
