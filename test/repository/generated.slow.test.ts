import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { TEST_HANG_MS } from '../support/hang.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const BINARIES = join(ROOT, 'node_modules', '.bin')
const ENVIRONMENT = { ...process.env, PATH: `${BINARIES}${delimiter}${process.env.PATH}` }
/** `scripts/capture-examples.ts` writes them, from a running service. */
const EXAMPLES = 'examples.json'

/** Files by their path below a folder. */
type Tree = Map<string, Buffer>

const run = promisify(execFile)

/** Generates all files again, like `npm run generate`. @returns the folder that corresponds to `gen/` */
async function generate(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'generated-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const options = { cwd: ROOT, env: ENVIRONMENT, timeout: TEST_HANG_MS }
  const generated = join(folder, 'gen')
  mkdirSync(generated)
  await Promise.all([
    run(join(BINARIES, 'tsx'), ['scripts/describe-chains.ts', join(generated, 'chains.ts')], options),
    run(join(BINARIES, 'tsx'), ['scripts/describe-protos.ts', join(generated, 'comments.ts')], options),
    run(join(BINARIES, 'buf'), ['generate', '-o', folder], options),
    run(join(BINARIES, 'tsx'), ['scripts/describe-json.ts', join(generated, 'json.ts')], options),
    run(join(BINARIES, 'tsx'), ['scripts/describe-api.ts', generated], options),
    run(join(BINARIES, 'tsx'), ['scripts/compile-contracts.ts', join(generated, 'contracts')], options),
  ])
  return generated
}

function readTree(folder: string): Tree {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(folder, path)).isFile(),
  )
  return new Map(paths.map((path) => [path, readFileSync(join(folder, path))]))
}

/** The differences between the committed files and those generated from the sources. */
function differences(committed: Tree, generated: Tree): string[] {
  const missing = [...generated.keys()].filter((path) => !committed.has(path))
  const extra = [...committed.keys()].filter((path) => !generated.has(path))
  const stale = [...generated].filter(([path, text]) => committed.get(path)?.equals(text) === false)
  return [
    ...missing.map((path) => `missing: ${path}`),
    ...extra.map((path) => `extra: ${path}`),
    ...stale.map(([path]) => `stale: ${path}`),
  ].sort()
}

test('gen/ matches its sources: run `npm run generate` otherwise', { timeout: TEST_HANG_MS }, async () => {
  const generated = readTree(await generate())
  expect([...generated.keys()].sort()).toEqual(
    expect.arrayContaining(['aggregator/v1/quote_pb.ts', 'contracts/settlement.ts', 'openapi.json']),
  )
  const committed = readTree(join(ROOT, 'gen'))
  committed.delete(EXAMPLES)
  expect(differences(committed, generated)).toEqual([])
})

test('stale, missing and extra files are each named', () => {
  const tree = (files: Record<string, string>): Tree =>
    new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]))
  const committed = tree({ 'same.ts': 'a', 'old.ts': 'a', 'gone.ts': 'a' })
  const generated = tree({ 'same.ts': 'a', 'old.ts': 'b', 'new.ts': 'a' })
  expect(differences(committed, generated)).toEqual(['extra: gone.ts', 'missing: new.ts', 'stale: old.ts'])
})
