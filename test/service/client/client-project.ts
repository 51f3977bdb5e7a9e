import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { INSTALL_MS, packPackage } from '../../support/packages/pack-package.js'

/** npm's options for a project of a test. */
export const INSTALL = ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
const COMPILER = createRequire(import.meta.url).resolve('typescript/bin/tsc')
const run = promisify(execFile)

export type Project = Awaited<ReturnType<typeof createProject>>

/** How an integrator's compiler finds what is imported, and how strictly it looks at it. */
const COMPILER_OPTIONS = {
  nodenext: { module: 'NodeNext', outDir: 'out', declaration: true },
  // The types were held against each other above.
  bundler: { module: 'ESNext', moduleResolution: 'bundler', noEmit: true, skipLibCheck: true },
} as const

/**
 * An integrator's empty project, into which the package has been packed and installed as npm does it, with the oldest
 * packages that it works with.
 */
export async function createProject(examples: readonly string[]) {
  const parent = await mkdtemp(join(tmpdir(), 'quote-aggregator-'))
  const folder = join(parent, 'project')
  const remove = () => rm(parent, { recursive: true, force: true })
  try {
    const tarball = await packPackage('client', parent)
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
    /** Compiles the examples and what else is in the folder, with no types but the package's own; @returns what the compiler says */
    async compile(kind: keyof typeof COMPILER_OPTIONS): Promise<string> {
      const common = { target: 'ES2022', strict: true, types: [] }
      const compilerOptions = { ...common, ...COMPILER_OPTIONS[kind] }
      const file = join(folder, `tsconfig.${kind}.json`)
      await writeFile(file, JSON.stringify({ compilerOptions, include: ['*.ts'] }))
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
