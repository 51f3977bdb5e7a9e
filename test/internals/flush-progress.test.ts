import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startChild } from '../support/process/child-process.js'

/** What the file may have, in the units of `ulimit`: more than half of the lines, and not all. */
const BLOCKS = 8
const BLOCK_BYTES = 512
const LINES = 70

test('the log continues after the place where a fatal line has met a full disk', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'flush-progress-'))
  const [file, full] = [join(folder, 'log'), join(folder, 'full')]
  writeFileSync(file, '')
  const script = `
    import { copyFileSync, truncateSync } from 'node:fs'
    const { openProcessLog } = await import('./src/telemetry/log.ts')
    const log = await openProcessLog('info')
    for (let index = 0; index < ${LINES}; index++) log.info(String(index))
    log.fatal('failed')
    copyFileSync('${file}', '${full}')
    truncateSync('${file}')
    process.exit()`
  const limited = `ulimit -S -f ${BLOCKS}; "$@" >>${file}`
  const node = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', script]
  const child = startChild('sh', ['-c', limited, 'sh', ...node], {})
  await child.exited
  const [begun, rest] = [full, file].map((name) => readFileSync(name, 'utf8'))
  rmSync(folder, { recursive: true })

  expect(begun).toHaveLength(BLOCKS * BLOCK_BYTES)
  const lines = `${begun}${rest}`.trimEnd().split('\n')
  const expected = Array.from({ length: LINES }, (_, index) => String(index))
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual([...expected, 'failed'])
})
