import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUILT } from '../../support/process/built.js'

const { version } = (await import('../../../package.json', { with: { type: 'json' } })).default

let parent: string
let clone: string

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'quote-aggregator-'))
  clone = join(parent, 'clone')
  for (const name of ['package.json', 'package-lock.json', 'bin', 'packages/client/package.json'])
    await cp(name, join(clone, name), { recursive: true })
})
afterAll(() => rm(parent, { recursive: true, force: true }))

/** Runs a program in a folder, with a cache of npm of its own. */
async function run(cwd: string, program: string, ...args: string[]) {
  const env = { ...process.env, npm_config_cache: join(parent, 'cache'), npm_config_offline: 'true' }
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args, { cwd, env })
    return { code: 0, stdout, stderr }
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string }
  }
}

describe('npx quote-aggregator in a clone', () => {
  it('says what to do before the first build, and works after it', async () => {
    const early = await run(clone, 'npx', 'quote-aggregator', '--version')
    expect(early.code, early.stderr).toBe(1)
    expect(early.stderr).toContain('error: quote-aggregator is not built yet. Run this first: npm run build')

    await cp(BUILT, join(clone, 'dist'), { recursive: true })
    const built = await run(clone, 'npx', 'quote-aggregator', '--version')
    expect([built.code, built.stdout], built.stderr).toEqual([0, `${version}\n`])
  })

  it('works from the packed package', async () => {
    await cp(BUILT, join(clone, 'dist'), { recursive: true })
    const packed = await run(clone, 'npm', 'pack', '--ignore-scripts', '--pack-destination', parent)
    expect(packed.code, packed.stderr).toBe(0)
    await run(parent, 'tar', '-xzf', packed.stdout.trim())
    const { code, stdout } = await run(join(parent, 'package'), 'bin/quote-aggregator.js', '--version')
    expect([code, stdout]).toEqual([0, `${version}\n`])
  })
})
