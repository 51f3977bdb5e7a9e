import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { extname, join, normalize } from 'node:path'
import { promisify } from 'node:util'
import { listen } from '../../support/listen.js'
import { INSTALL_MS, packPackage } from '../../support/packages/pack-package.js'
import { INSTALL } from './client-project.js'

const run = promisify(execFile)
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
}

export type WalletProject = Awaited<ReturnType<typeof createWalletProject>>

/** The wallet example in a folder of its own, with the packed client and its own viem installed. */
export async function createWalletProject() {
  const folder = await mkdtemp(join(tmpdir(), 'quote-aggregator-wallet-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  const app = join(folder, 'app')
  const inApp = async (
    command: string,
    args: readonly string[],
    environment: Record<string, string> = {},
  ) => {
    const options = { cwd: app, timeout: INSTALL_MS, env: { ...process.env, ...environment } }
    return run(command, args, options).then(
      ({ stdout }) => stdout,
      (error) => {
        throw new Error(error.stdout || error.stderr || error.message)
      },
    )
  }
  try {
    const isSource = (path: string) => !/node_modules|dist|package-lock/.test(path)
    await cp('examples/wallet', app, { recursive: true, filter: isSource })
    await inApp('npm', [...INSTALL, await packPackage('client', folder)])
  } catch (error) {
    await remove()
    throw error
  }

  return {
    app,
    remove,
    /**
     * The installed versions of viem, each with its path. One in addition to the app's own would be a second
     * copy.
     */
    async viemVersions(): Promise<string[]> {
      const tree = await inApp('npm', ['ls', 'viem', '--all', '--parseable', '--long'])
      const viems = tree.split('\n').filter((line) => line.includes(':viem@'))
      return [...new Set(viems.map((line) => line.split(':')[1] ?? ''))]
    },
    /** @throws with the compiler's output */
    compile: () => inApp('npx', ['--no-install', 'tsc']),
    /** @param environment Vite's variables */
    build: (environment: Record<string, string>) =>
      inApp('npx', ['--no-install', 'vite', 'build'], environment),
    serve: () => serve(join(app, 'dist')),
  }
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
