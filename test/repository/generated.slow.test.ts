import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { TEST_HANG_MS } from '../support/hang.js'

/** `scripts/capture-examples.ts` writes them, from a running service. */
const EXAMPLES = 'examples.json'

/** Generates all files again, like `npm run generate`. @returns the folder that corresponds to `gen/` */
async function generate(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'generated-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const generated = join(folder, 'gen')
  mkdirSync(generated)
  const PATH = `node_modules/.bin${delimiter}${process.env.PATH}`
  const run = (program: string, ...args: string[]) =>
    promisify(execFile)(program, args, { env: { ...process.env, PATH }, timeout: TEST_HANG_MS })
  await Promise.all([
    run('tsx', 'scripts/describe-chains.ts', join(generated, 'chains.ts')),
    run('tsx', 'scripts/describe-protos.ts', join(generated, 'comments.ts')),
    run('buf', 'generate', '-o', folder),
    run('tsx', 'scripts/describe-json.ts', join(generated, 'json.ts')),
    run('tsx', 'scripts/describe-api.ts', generated),
    run('tsx', 'scripts/compile-contracts.ts', join(generated, 'contracts')),
  ])
  return generated
}

/** The texts of the files in a folder, by path. */
function readTexts(folder: string): Map<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  return new Map(paths.map((path) => [relative(folder, path), readFileSync(path, 'latin1')]))
}

test('gen/ matches its sources: run `npm run generate` otherwise', { timeout: TEST_HANG_MS }, async () => {
  const generated = readTexts(await generate())
  const committed = readTexts('gen')
  committed.delete(EXAMPLES)
  expect([...generated.keys()].sort()).toEqual([...committed.keys()].sort())
  const stale = [...generated].filter(([path, text]) => committed.get(path) !== text)
  expect(stale.map(([path]) => path)).toEqual([])
})
