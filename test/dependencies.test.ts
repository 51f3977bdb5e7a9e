import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { importsOf } from './import-rules.js'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Loads TypeScript when the service runs from its sources. */
const LOADER = 'tsx'
/** The local network is a tool that starts other tools. */
const LOCAL_NETWORK = 'src/devnet/'

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const manifestOf = (folder: string): Manifest => JSON.parse(read(join(folder, 'package.json')))
const namesOf = (list: object = {}) => Object.keys(list).sort()

/** The names of the packages that the files of a folder import. */
function packagesOf(folder: string, isMeant: (path: string) => boolean = () => true): string[] {
  const paths = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
  const files = paths.filter((path) => path.endsWith('.ts')).map((path) => `${folder}/${path}`)
  const targets = files
    .filter(isMeant)
    .flatMap((path) => importsOf(path, read(path)).map(({ target }) => target))
  const names = targets.filter(
    (target) => /^[@a-z]/.test(target) && !/\.[tj]s$/.test(target) && !isBuiltin(target),
  )
  return [...new Set(names.map((name) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name))].sort()
}

test('all packages that the service imports are dependencies, bundled or not', () => {
  const imported = packagesOf('src', (path) => !path.startsWith(LOCAL_NETWORK))
  expect(imported).toEqual(expect.arrayContaining(['fastify', 'kysely', 'pg', 'undici', 'viem', 'ws']))
  const { dependencies } = manifestOf('.')
  expect(imported.filter((name) => name !== LOADER && !namesOf(dependencies).includes(name))).toEqual([])
})

test('the client depends on the packages that it imports, and on no others', () => {
  const { dependencies, peerDependencies } = manifestOf('packages/client')
  const generated = packagesOf('gen/aggregator')
  const imported = new Set([...packagesOf('packages/client/src'), ...generated])
  expect(namesOf({ ...dependencies, ...peerDependencies })).toEqual([...imported].sort())
})
