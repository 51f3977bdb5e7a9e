import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The loader of TypeScript, for a service that runs from its sources, and the packages of this repository. */
const EXEMPT = ['tsx', '@quote-aggregator/client', '@quote-aggregator/solver']
/** The local network is a tool, which starts other tools. */
const LOCAL_NETWORK = 'src/devnet/'

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const manifestOf = (folder: string): Manifest => JSON.parse(read(join(folder, 'package.json')))
const namesOf = (list: object = {}) => Object.keys(list).sort()

/** The packages that the files of a folder import, by name. */
function packagesOf(folder: string, isMeant: (path: string) => boolean = () => true): string[] {
  const paths = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
  const files = paths.filter((path) => /\.tsx?$/.test(path)).map((path) => `${folder}/${path}`)
  const targets = files
    .filter(isMeant)
    .flatMap((path) => ts.preProcessFile(read(path)).importedFiles.map(({ fileName }) => fileName))
  const names = targets.filter(
    (target) => /^[@a-z]/.test(target) && !/\.[tj]s$/.test(target) && !isBuiltin(target),
  )
  return [...new Set(names.map((name) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name))].sort()
}

test('all packages that the service imports are dependencies, bundled or not', () => {
  const imported = packagesOf('src', (path) => !path.startsWith(LOCAL_NETWORK))
  expect(imported).toEqual(expect.arrayContaining(['fastify', 'kysely', 'pg', 'undici', 'viem', 'ws']))
  const { dependencies, optionalDependencies } = manifestOf('.')
  const declared = [...EXEMPT, ...namesOf(dependencies), ...namesOf(optionalDependencies)]
  expect(imported.filter((name) => !declared.includes(name))).toEqual([])
})

test('the client depends on what it imports, and on nothing else', () => {
  const { dependencies, peerDependencies } = manifestOf('packages/client')
  const generated = packagesOf('gen/aggregator')
  const own = ['client', 'protocol'].flatMap((name) => packagesOf(`packages/${name}/src`))
  const imported = new Set([...own, ...generated])
  expect(namesOf({ ...dependencies, ...peerDependencies })).toEqual([...imported].sort())
})

test('the kit of solvers depends on what it imports, also through the sources that it shares, and on nothing else', () => {
  const { dependencies, optionalDependencies, peerDependencies } = manifestOf('packages/solver')
  const shared = packagesOf('src/signing', (path) => /\/(keccak|typed-data)\.ts$/.test(path))
  const imported = new Set([
    ...packagesOf('packages/solver/src'),
    ...packagesOf('packages/chain/src'),
    ...packagesOf('packages/client/src'),
    ...packagesOf('packages/protocol/src'),
    ...packagesOf('packages/sqlite/src'),
    // In its place on Node 20.
    'better-sqlite3-node20',
    ...shared,
  ])
  const expected = [...imported].filter((name) => name !== '@bufbuild/protobuf').sort()
  expect(namesOf({ ...dependencies, ...optionalDependencies, ...peerDependencies })).toEqual(expected)
})

test('the console depends on what it imports, and on nothing else', () => {
  const { dependencies } = manifestOf('packages/console')
  const imported = new Set(packagesOf('packages/console/src').filter((name) => !EXEMPT.includes(name)))
  // The generated code imports it.
  imported.add('@bufbuild/protobuf')
  expect(namesOf(dependencies)).toEqual([...imported].sort())
})

test('the lock file keeps that SQLite has nothing to compile, which each `npm install` removes from it', () => {
  const { packages } = JSON.parse(read('package-lock.json'))
  // Without it, `npm ci` runs node-gyp for the package, and fails where there is no Python.
  expect(packages['node_modules/better-sqlite3']).toMatchObject({ gypfile: false })
})
