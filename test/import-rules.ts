import { posix } from 'node:path'

/** Source files: their text by their path below the repository's root, such as `src/domain/hex.ts`. */
export type SourceFiles = ReadonlyMap<string, string>

/** The packages of this repository that the sources import, by the files that they export. */
const PACKAGES: ReadonlyMap<string, string> = new Map([
  ['@quote-aggregator/client', 'packages/client/src/index.ts'],
])

interface Import {
  /** The imported file or package; a file by its path below the root. */
  readonly target: string
  readonly names: readonly string[]
}

/** Each layer may import itself and layers of a lower rank. Two layers of one rank may not import each other. */
const RANKS: Readonly<Record<string, number>> = {
  domain: 0,
  signing: 1,
  client: 1,
  store: 2,
  chain: 2,
  solvers: 3,
  events: 3,
  quoting: 4,
  rpc: 5,
  http: 6,
  app: 7,
  main: 8,
  devnet: 8,
  cli: 9,
}

/** Files and folders outside the layers. Every layer except domain may import them. */
const OUTSIDE = ['config', 'environment', 'variables', 'version', 'telemetry', 'internals']

/** Packages with the only layers that may import them. A name that ends in `/` means a whole scope. */
const PACKAGE_OWNERS: readonly [string, readonly string[]][] = [
  ['kysely', ['store']],
  ['better-sqlite3', ['store']],
  ['pg', ['store']],
  ['pg', ['store']],
  ['undici', ['solvers']],
  ['fastify', ['http', 'devnet']],
  ['@fastify/', ['http', 'devnet']],
]
const CLIENT_CONSTRUCTORS = [
  'createPublicClient',
  'createWalletClient',
  'createTestClient',
  'createClient',
  'http',
  'webSocket',
]
const CLIENT_OWNERS = ['chain', 'devnet']
const MESSAGE_OWNERS = ['rpc', 'http', 'client']
const ENVIRONMENT_READERS = ['src/config.ts', 'src/devnet/demo.ts']

/** Checks source files against CONTRIBUTING.md, "Where things are". @returns one line for each violation */
export function findViolations(files: SourceFiles): string[] {
  const violations: string[] = []
  for (const [path, text] of files) {
    const broken = [
      ...importsOf(path, text).flatMap((each) => checkImport(path, each)),
      ...checkEnvironment(path, text),
    ]
    violations.push(...broken.map((rule) => `${path} ${rule}`))
  }
  return [...violations, ...findCycles(files)]
}

/** All imports of a file: statements, re-exports, imports for their effect, dynamic imports and imports of types. */
export function importsOf(path: string, text: string): Import[] {
  const statement = /^(?:import|export)\s+(?:type\s+)?([^'"`;]*?)\s*\bfrom\s*['"]([^'"]+)['"]/gm
  const bare = /^import\s*['"]([^'"]+)['"]/gm
  const call = /\b(?:import|require)\(\s*['"]([^'"]+)['"]/g
  return [
    ...[...text.matchAll(statement)].map(([, clause = '', target = '']) => ({
      target,
      names: namesOf(clause),
    })),
    ...[...text.matchAll(bare), ...text.matchAll(call)].map(([, target = '']) => ({ target, names: ['*'] })),
  ].map(({ target, names }) => ({ names, target: resolve(path, target) }))
}

/** The names in the clause of an import, as the imported module exports them; `*` means all. */
function namesOf(clause: string): string[] {
  const inBraces = /\{([^}]*)\}/.exec(clause)?.[1]
  if (inBraces === undefined) return ['*']
  const names = inBraces.split(',').map(
    (name) =>
      name
        .trim()
        .replace(/^type\s+/, '')
        .split(/\s+as\s+/)[0] ?? '',
  )
  return names.filter((name) => name !== '')
}

function resolve(path: string, target: string): string {
  if (!target.startsWith('.')) return PACKAGES.get(target) ?? target
  return posix.join(posix.dirname(path), target).replace(/\.js$/, '.ts')
}

/** The layer of a file: its folder below `src/` or `packages/`, or the name of a file at the top. */
function layerOf(path: string): string {
  return path.split('/')[1]?.replace(/\.ts$/, '') ?? ''
}

function checkImport(path: string, imported: Import): string[] {
  const { target } = imported
  const layer = layerOf(path)
  if (RANKS[layer] === undefined && !OUTSIDE.includes(layer)) return ['is outside the known layers']
  if (target.startsWith('src/') || target.startsWith('packages/')) return checkSource(layer, target)
  if (layer === 'domain') return [`imports ${target}, though domain imports nothing but itself`]
  if (target.startsWith('gen/')) return checkGenerated(layer, imported)
  return checkPackage(layer, imported)
}

function checkSource(layer: string, target: string): string[] {
  const targetLayer = layerOf(target)
  if (targetLayer === layer) return []
  const violation = [`imports ${target}, which ${layer} may not`]
  if (OUTSIDE.includes(layer)) return ['domain', ...OUTSIDE].includes(targetLayer) ? [] : violation
  if (OUTSIDE.includes(targetLayer)) return layer === 'domain' ? violation : []
  const rank = RANKS[layer] ?? 0
  return (RANKS[targetLayer] ?? rank) < rank ? [] : violation
}

function checkGenerated(layer: string, { target, names }: Import): string[] {
  if (!target.startsWith('gen/aggregator/') || MESSAGE_OWNERS.includes(layer)) return []
  const isServicesOnly = names.every((name) => name.endsWith('Service'))
  return layer === 'devnet' && isServicesOnly ? [] : [`imports messages of ${target}`]
}

function checkPackage(layer: string, { target, names }: Import): string[] {
  const owners = PACKAGE_OWNERS.find(
    ([name]) => target === name || target.startsWith(name.endsWith('/') ? name : `${name}/`),
  )?.[1]
  if (owners !== undefined && !owners.includes(layer))
    return [`imports ${target}, which belongs to ${owners.join(' and ')}`]
  const constructors = names.filter((name) => name === '*' || CLIENT_CONSTRUCTORS.includes(name))
  if (target === 'viem' && constructors.length > 0 && !CLIENT_OWNERS.includes(layer)) {
    return [`imports ${constructors.join(', ')} of viem, which belongs to ${CLIENT_OWNERS.join(' and ')}`]
  }
  return []
}

function checkEnvironment(path: string, text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '')
  const isRead =
    /\bprocess\s*(\?\.|\.)\s*env\b|\bprocess\s*\[|['"](node:)?process['"]|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b/.test(
      code,
    )
  return isRead && !ENVIRONMENT_READERS.includes(path) ? ['reads process.env'] : []
}

/** Visits the files depth first. A file that is reached again on its own path is in a cycle. */
function findCycles(files: SourceFiles): string[] {
  const cycles: string[] = []
  const done = new Set<string>()
  const visit = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) cycles.push(`cycle: ${[...way.slice(way.indexOf(path)), path].join(' -> ')}`)
    if (way.includes(path) || done.has(path)) return
    for (const { target } of importsOf(path, files.get(path) ?? '')) {
      if (files.has(target)) visit(target, [...way, path])
    }
    done.add(path)
  }
  for (const path of files.keys()) visit(path, [])
  return cycles
}
