import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The loader of TypeScript, for a service that runs from its sources, and the packages of this repository. */
const EXEMPT = ['tsx', '@quote-aggregator/client', '@quote-aggregator/solver']
/** The local network is a tool, which starts other tools. */
const LOCAL_NETWORK = 'packages/cli/src/devnet/'

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const manifestOf = (folder: string): Manifest => JSON.parse(read(join(folder, 'package.json')))
const namesOf = (list: object = {}) => Object.keys(list).sort()

/** The packages among what some files import, by name. */
function packagesOf(files: readonly string[]): string[] {
  const names = files
    .flatMap((path) => importsOf(path))
    .filter((target) => /^[@a-z]/.test(target) && !/\.[tj]s$/.test(target) && !isBuiltin(target))
  return [...new Set(names.map((name) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name))].sort()
}

const importsOf = (path: string) =>
  ts.preProcessFile(read(path)).importedFiles.map(({ fileName }) => fileName)

/** The sources in a folder. */
function filesIn(folder: string): string[] {
  const paths = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
  return paths.filter((path) => /\.tsx?$/.test(path)).map((path) => `${folder}/${path}`)
}

/** The sources that a file imports, itself included, and what these import. */
function filesFrom(entry: string, found = new Set<string>()): string[] {
  if (found.has(entry)) return []
  found.add(entry)
  for (const target of importsOf(entry).filter((name) => name.startsWith('.')))
    filesFrom(join(dirname(entry), target.replace(/\.js$/, '.ts')), found)
  return [...found]
}

test('all packages that the service and the command line import are dependencies, bundled or not', () => {
  const files = [...filesIn('src'), ...filesIn('packages/cli/src')]
  const imported = packagesOf(files.filter((path) => !path.startsWith(LOCAL_NETWORK)))
  expect(imported).toEqual(
    expect.arrayContaining(['commander', 'fastify', 'kysely', 'pg', 'undici', 'viem', 'ws']),
  )
  const { dependencies, optionalDependencies } = manifestOf('.')
  const declared = [...EXEMPT, ...namesOf(dependencies), ...namesOf(optionalDependencies)]
  expect(imported.filter((name) => !declared.includes(name))).toEqual([])
})

test.each([
  ['client', ['index.ts', 'proto.ts'], []],
  // In place of better-sqlite3 on Node 20.
  ['solver', ['index.ts'], ['better-sqlite3-node20']],
])(
  'packages/%s depends on what it imports, also through the sources that it shares, and on nothing else',
  (name, entries, chosen) => {
    const { dependencies, optionalDependencies, peerDependencies } = manifestOf(`packages/${name}`)
    const imported = packagesOf(entries.flatMap((entry) => filesFrom(`packages/${name}/src/${entry}`)))
    expect(imported).toContain('viem')
    expect(namesOf({ ...dependencies, ...optionalDependencies, ...peerDependencies })).toEqual(
      [...imported, ...chosen].sort(),
    )
  },
)

test('the console depends on what it imports, and on nothing else', () => {
  const { dependencies } = manifestOf('packages/console')
  const imported = new Set(
    packagesOf(filesIn('packages/console/src')).filter((name) => !EXEMPT.includes(name)),
  )
  // The generated code imports it.
  imported.add('@bufbuild/protobuf')
  expect(namesOf(dependencies)).toEqual([...imported].sort())
})

test('the lock file keeps that SQLite has nothing to compile, which each `npm install` removes from it', () => {
  const { packages } = JSON.parse(read('package-lock.json'))
  // Without it, `npm ci` runs node-gyp for the package, and fails where there is no Python.
  expect(packages['node_modules/better-sqlite3']).toMatchObject({ gypfile: false })
})
