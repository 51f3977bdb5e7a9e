import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFailed } from 'vitest'
import { eventually } from '../support/eventually.js'
import { cloneSources } from '../support/packages/clone.js'
import { startProcess } from '../support/process/process.js'

it('npm run dev starts the service again with a changed source, at its port and with its solvers', async () => {
  const clone = cloneSources()
  const options = { cwd: clone, ownGroup: true }
  const dev = startProcess('npm', ['run', '--silent', 'dev'], { LOG_LEVEL: 'silent' }, options)
  onTestFailed(() => void process.stderr.write(dev.output()))
  await dev.waitFor(/Ctrl-C ends all/)
  const [, url = ''] = /^ +service +(\S+)$/m.exec(dev.output()) ?? []
  const solvers = await readJson(`${url}/v1/31337/solvers`)
  expect(solvers).toHaveLength(3)

  const source = join(clone, 'src/config/version.ts')
  writeFileSync(source, "export const version: string = 'changed'\n")
  await eventually(
    () => readJson(`${url}/health`),
    (health) => (health as { version?: string } | undefined)?.version === 'changed',
  )
  // The last one connects again.
  expect(await eventually(() => readJson(`${url}/v1/31337/solvers`), isEqualTo(solvers))).toEqual(solvers)

  writeFileSync(source, 'export const version: string =\n')
  await dev.waitFor(/Unexpected/)
  writeFileSync(source, "export const version: string = 'mended'\n")
  await eventually(
    () => readJson(`${url}/health`),
    (health) => (health as { version?: string } | undefined)?.version === 'mended',
  )

  process.kill(-(dev.child.pid ?? 0), 'SIGINT')
  await dev.exited
  // The compiler ends a moment later.
  await eventually(
    async () => dev.leftSomething(),
    (left) => !left,
  )
})

/** @returns undefined while the service does not answer */
async function readJson(url: string): Promise<unknown> {
  const response = await fetch(url).catch(() => undefined)
  return response?.json()
}

function isEqualTo(expected: unknown): (actual: unknown) => boolean {
  return (actual) => JSON.stringify(actual) === JSON.stringify(expected)
}
