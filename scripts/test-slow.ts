/**
 * Runs the slow tests, those of the named files or all. A file that fails is run once more, alone, before it counts: many of these
 * tests measure time or memory, which other work on the machine blurs.
 *
 *   tsx scripts/test-slow.ts [part of a file's name ...]
 */
import { relative } from 'node:path'
import { startVitest } from 'vitest/node'

interface Outcome {
  /** Paths below this folder. */
  readonly failed: readonly string[]
  /** Errors that belong to no test, or no test at all. Another run does not excuse them. */
  readonly isBroken: boolean
}

async function run(files: readonly string[]): Promise<Outcome> {
  const vitest = await startVitest('test', [...files], { run: true, project: ['slow', 'slow-alone'] })
  const modules = vitest.state.getTestModules()
  const failed = modules.filter((module) => !module.ok()).map(({ moduleId }) => relative('.', moduleId))
  const isBroken = modules.length === 0 || vitest.state.getUnhandledErrors().length > 0
  await vitest.close()
  return { failed: [...new Set(failed)], isBroken }
}

const { failed, isBroken } = await run(process.argv.slice(2))
const failedTwice: string[] = []
if (failed.length > 0) console.log(`\n${failed.length} files failed. Each is run once more, alone.`)
for (const file of failed) {
  const again = await run([file])
  if (again.isBroken || again.failed.length > 0) failedTwice.push(file)
}
for (const file of failed)
  console.log(`${failedTwice.includes(file) ? 'failed twice' : 'passed alone'}: ${file}`)
process.exitCode = isBroken || failedTwice.length > 0 ? 1 : 0
