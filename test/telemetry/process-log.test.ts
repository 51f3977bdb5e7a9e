import { expect, test } from 'vitest'
import { startChild } from '../support/process/child-process.js'

/** Fewer than the log writes at once, so that all of them wait when the process ends. */
const LINES = 100

/** The messages that a process has written when it ended. It logs some lines and then runs this code. */
async function messagesOf(end: string): Promise<string[]> {
  const script = `
    const { openProcessLog } = await import('./src/telemetry/log.ts')
    const log = await openProcessLog('info')
    for (let index = 0; index < ${LINES}; index++) log.info({ token: 'Tæther' }, String(index))
    ${end}`
  const child = startChild(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {})
  await child.exited
  const lines = child.output().trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line).msg)
}

const expected = Array.from({ length: LINES }, (_, index) => String(index))

test('the log has all lines when its process exits', async () => {
  expect(await messagesOf('process.exit()')).toEqual(expected)
})

test('the log has all lines up to a fatal one, also when a signal kills its process then', async () => {
  const end = `log.fatal('failed'); process.kill(process.pid, 'SIGKILL')`
  expect(await messagesOf(end)).toEqual([...expected, 'failed'])
})
