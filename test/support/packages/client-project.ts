import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { copyFile, cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'

/** npm's options for a project of a test. */
export const INSTALL = ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
export const INSTALL_MS = 100_000
const COMPILER = createRequire(import.meta.url).resolve('typescript/bin/tsc')
const run = promisify(execFile)

export type Project = Awaited<ReturnType<typeof createProject>>

/** How an integrator's compiler finds what is imported, and how strictly it looks at it. */
const COMPILER_OPTIONS = {
  nodenext: { module: 'NodeNext', outDir: 'out' },
  // The types were held against each other above.
  bundler: { module: 'ESNext', moduleResolution: 'bundler', noEmit: true, skipLibCheck: true },
} as const

/** What is not copied to be packed; the installed packages are lent. */
const LEFT_OUT = ['.git', '.bench', 'coverage', 'dist', 'node_modules', 'test']
const isSource = (path: string) => !LEFT_OUT.includes(basename(path))

/** Packs a copy of the client, since packing builds what other tests may be using. @returns the tarball's path */
export async function packClient(folder: string): Promise<string> {
  const copy = join(folder, 'copy')
  await mkdir(copy)
  for (const name of await readdir('.')) {
    if (isSource(name)) await cp(name, join(copy, name), { recursive: true, filter: isSource })
  }
  await symlink(resolve('node_modules'), join(copy, 'node_modules'))
  const client = join(copy, 'packages/client')
  await run('npm', ['pack', '--pack-destination', folder], { cwd: client, timeout: INSTALL_MS })
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'))
  if (tarball === undefined) throw new Error('nothing was packed')
  return join(folder, tarball)
}

/**
 * An integrator's empty project, into which the package has been packed and installed as npm does it, with the oldest
 * packages that it works with.
 */
export async function createProject(examples: readonly string[]) {
  const parent = await mkdtemp(join(tmpdir(), 'quote-aggregator-'))
  const folder = join(parent, 'project')
  const remove = () => rm(parent, { recursive: true, force: true })
  try {
    const tarball = await packClient(parent)
    await mkdir(folder)
    await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
    await run('npm', [...INSTALL, tarball, ...oldestPeers()], { cwd: folder, timeout: INSTALL_MS })
    for (const example of examples) {
      await copyFile(resolve('examples/typescript', example), join(folder, example))
    }
  } catch (error) {
    await remove()
    throw error
  }

  return {
    folder,
    remove,
    /** Compiles the examples, with no types but the package's own; @returns what the compiler says */
    async compile(kind: keyof typeof COMPILER_OPTIONS): Promise<string> {
      const common = { target: 'ES2022', strict: true, types: [] }
      const compilerOptions = { ...common, ...COMPILER_OPTIONS[kind] }
      const file = join(folder, `tsconfig.${kind}.json`)
      await writeFile(file, JSON.stringify({ compilerOptions, files: examples }))
      return run(process.execPath, [COMPILER, '--project', file]).then(
        ({ stdout }) => stdout,
        (error) => error.stdout || error.message,
      )
    },
  }
}

/** The packages that an app brings, each in the oldest version that the client works with. */
function oldestPeers(): string[] {
  const { peerDependencies } = JSON.parse(readFileSync('packages/client/package.json', 'utf8'))
  return Object.entries<string>(peerDependencies).map(([name, range]) => `${name}@${range.replace('^', '')}`)
}
