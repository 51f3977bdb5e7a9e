import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { cacheCode, loadScript } from '../../src/internals/cached-script.js'
import { BUILT } from '../support/process/built.js'

const MODULE = new URL('../../src/internals/cached-script.ts', import.meta.url).href

/** A script whose code is kept. */
function createCached(source: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'script-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'script.js')
  writeFileSync(path, source)
  const script = loadScript(path)
  script.runInThisContext()
  cacheCode(path, script)
  return path
}

/**
 * Whether V8 has rejected the code that is kept for a script, under flags of Node: true, false, or undefined without code.
 * @param before what runs before the script is loaded
 */
function rejectionOf(path: string, flags: readonly string[], before = ''): string {
  const program = `${before}; import { loadScript } from '${MODULE}'; console.log(loadScript('${path}').cachedDataRejected)`
  const args = [...flags, '--import', 'tsx', '--input-type=module', '--eval', program]
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim()
}

test('a script runs with the code that is kept for it', () => {
  const script = loadScript(createCached('1 + 1'))
  expect(script.cachedDataRejected).toBe(false)
  expect(script.runInThisContext()).toBe(2)
})

test('a script of the same length that has changed runs as it is now', () => {
  const path = createCached('1 + 1')
  writeFileSync(path, '1 + 2')
  expect(loadScript(path).runInThisContext()).toBe(3)
})

test.each([0, 4, 8, 50])('kept code with another byte at %i is not used', (position) => {
  const path = createCached('(() => 1 + 1)()')
  const file = path.replace('.js', '.cache')
  const bytes = readFileSync(file)
  bytes[position] = (bytes[position] ?? 0) ^ 1
  writeFileSync(file, bytes)
  const script = loadScript(path)
  expect(script.cachedDataRejected).toBeUndefined()
  expect(script.runInThisContext()).toBe(2)
})

test.each([0, 7, 8, 100])('kept code that ends after %i bytes is not used', (length) => {
  const path = createCached('(() => 1 + 1)()')
  const file = path.replace('.js', '.cache')
  writeFileSync(file, readFileSync(file).subarray(0, length))
  expect(loadScript(path).runInThisContext()).toBe(2)
})

test('a script whose kept code cannot be read runs', () => {
  const path = createCached('1 + 1')
  const file = path.replace('.js', '.cache')
  rmSync(file)
  mkdirSync(file)
  expect(loadScript(path).runInThisContext()).toBe(2)
})

test('an error in a script that was moved with its kept code names the new path', () => {
  const path = createCached('(() => { throw new Error() })')
  const moved = `${path}.moved`
  mkdirSync(moved)
  for (const ending of ['js', 'cache'])
    renameSync(path.replace(/js$/, ending), join(moved, `script.${ending}`))
  const program = `import { loadScript } from '${MODULE}'
    try { loadScript('${moved}/script.js').runInThisContext()() } catch ({ stack }) { console.log(stack) }`
  const args = ['--import', 'tsx', '--input-type=module', '--eval', program]
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toContain(`at ${moved}/script.js:1:`)
})

test('V8 rejects kept code under other flags, and compiles the script', () => {
  const path = createCached('1 + 1')
  expect(rejectionOf(path, [])).toBe('false')
  expect(rejectionOf(path, ['--max-semi-space-size=3'])).toBe('true')
})

test('V8 takes the code of the built service under the flags of npm start', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const flags: string[] = scripts.start.split(' ').slice(2, -1)
  expect(flags).not.toEqual([])
  expect(rejectionOf(`${BUILT}/service.js`, flags)).toBe('false')
})

test('the build has no part of undici that the start does not need', () => {
  const source = readFileSync(`${BUILT}/service.js`, 'utf8')
  expect(source).toContain('undici/lib/dispatcher/agent.js')
  expect(source).not.toContain('undici/lib/web/cookies')
})
