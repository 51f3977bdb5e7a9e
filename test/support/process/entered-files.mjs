/**
 * Loaded before a service that runs from its sources. It answers each message of its parent with the files of this project of
 * which a function ran since the message before.
 */
import { Session } from 'node:inspector/promises'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const OWN = /^(src|packages\/\w+\/src)\//

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

process.on('message', async () => {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const entered = result
    .filter(({ url, functions }) => url.startsWith('file:') && functions.some(hasRun))
    .map(({ url }) => fileURLToPath(url).slice(ROOT.length))
  process.send(entered.filter((path) => OWN.test(path)))
})

function hasRun({ ranges }) {
  return ranges[0].count > 0
}
