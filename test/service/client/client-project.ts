import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { extname, join, normalize, resolve } from 'node:path'
import { promisify } from 'node:util'
import { listen } from '../../support/listen.js'
import { INSTALL_MS, packPackage } from '../../support/packages/pack-package.js'

const INSTALL = ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
const COMPILER = createRequire(import.meta.url).resolve('typescript/bin/tsc')

/**
 * An integrator's project, into which the package has been packed and installed as npm does it.
 * @param write writes its files
 * @param others what else is installed
 */
async function install(write: (folder: string) => Promise<void>, others: readonly string[] = []) {
  const parent = await mkdtemp(join(tmpdir(), 'quote-aggregator-'))
  const folder = join(parent, 'project')
  const remove = () => rm(parent, { recursive: true, force: true })
  /** @returns what the command prints @throws with it when the command fails */
  const run = (command: string, args: readonly string[], environment: Record<string, string> = {}) => {
    const options = { cwd: folder, timeout: INSTALL_MS, env: { ...process.env, ...environment } }
    return promisify(execFile)(command, args, options).then(
      ({ stdout }) => stdout,
      (error) => {
        throw new Error(error.stdout || error.stderr || error.message)
      },
    )
  }
  try {
    await write(folder)
    await run('npm', [...INSTALL, await packPackage('client', parent), ...others])
  } catch (error) {
    await remove()
    throw error
  }
  return { folder, remove, run }
}

/** How an integrator's compiler finds what is imported, and how strictly it looks at it. */
const COMPILER_OPTIONS = {
  nodenext: { module: 'NodeNext', outDir: 'out', declaration: true },
  // The types were held against each other above.
  bundler: { module: 'ESNext', moduleResolution: 'bundler', noEmit: true, skipLibCheck: true },
} as const

/** A project with some examples, and the oldest packages that the client works with. */
export async function createProject(examples: readonly string[]) {
  const { folder, remove, run } = await install(async (path) => {
    await mkdir(path)
    await writeFile(join(path, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
    for (const example of examples)
      await copyFile(resolve('examples/typescript', example), join(path, example))
  }, oldestPeers())

  return {
    folder,
    remove,
    /**
     * Compiles the examples and what else is in the folder, with no types but the package's own.
     * @throws with the compiler's output
     */
    async compile(kind: keyof typeof COMPILER_OPTIONS): Promise<string> {
      const common = { target: 'ES2022', strict: true, types: [] }
      const compilerOptions = { ...common, ...COMPILER_OPTIONS[kind] }
      const file = join(folder, `tsconfig.${kind}.json`)
      await writeFile(file, JSON.stringify({ compilerOptions, include: ['*.ts'] }))
      return run(process.execPath, [COMPILER, '--project', file])
    },
  }
}

/** The packages that an app brings, each in the oldest version that the client works with. */
function oldestPeers(): string[] {
  const { peerDependencies } = JSON.parse(readFileSync('packages/client/package.json', 'utf8'))
  return Object.entries<string>(peerDependencies).map(([name, range]) => `${name}@${range.replace('^', '')}`)
}

/** The wallet example, with its own viem. */
export async function createWalletProject() {
  const isSource = (path: string) => !/node_modules|dist|package-lock/.test(path)
  const { folder, remove, run } = await install((path) =>
    cp('examples/wallet', path, { recursive: true, filter: isSource }),
  )
  return {
    folder,
    remove,
    /**
     * The installed versions of viem, each with its path. One in addition to the app's own would be a second
     * copy.
     */
    async viemVersions(): Promise<string[]> {
      const tree = await run('npm', ['ls', 'viem', '--all', '--parseable', '--long'])
      const viems = tree.split('\n').filter((line) => line.includes(':viem@'))
      return [...new Set(viems.map((line) => line.split(':')[1] ?? ''))]
    },
    /** @throws with the compiler's output */
    compile: () => run('npx', ['--no-install', 'tsc']),
    /** @param environment Vite's variables */
    build: (environment: Record<string, string>) =>
      run('npx', ['--no-install', 'vite', 'build'], environment),
    serve: () => serve(join(folder, 'dist')),
  }
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
}

async function serve(folder: string) {
  const server = createServer(async ({ url = '/' }, response) => {
    const path = join(folder, normalize(url === '/' ? '/index.html' : new URL(url, 'http://site').pathname))
    const content = await readFile(path).catch(() => undefined)
    if (content === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? '' }).end(content)
  })
  const { port } = await listen(server)
  return {
    url: `http://127.0.0.1:${port}/`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
