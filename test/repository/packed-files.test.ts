import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

test.each(['.', 'packages/client', 'packages/solver'])(
  'git ignores the files that builds and packs of %s create',
  (folder) => {
    const { name, version } = JSON.parse(readFileSync(`${ROOT}${folder}/package.json`, 'utf8'))
    const tarball = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
    const left = [`${folder}/dist/main.js`, `${folder}/${tarball}`, tarball]
    const ignored = execFileSync('git', ['check-ignore', ...left], { cwd: ROOT, encoding: 'utf8' })
    expect(ignored.trim().split('\n')).toEqual(left)
  },
)
