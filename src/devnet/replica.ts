import { type ChildProcess, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import type { Environment } from '../environment.js'
import { atPreferredPort } from './preferred-port.js'
import { terminate } from './terminate.js'

/** One replica of the service in a separate process. */
export interface Replica {
  /** Name for output, such as "replica 2". */
  readonly name: string
  /** The base URL, also after a restart. */
  readonly url: string
  /** The id of its process, or of its last process when it does not run. */
  pid(): number
  isRunning(): boolean
  /** Ends it with SIGKILL, without a shutdown. @returns when it has exited */
  kill(): Promise<void>
  /** Starts it again at the same port. @returns when it listens */
  restart(): Promise<void>
  /** Lets it drain, and waits for its exit. */
  stop(): Promise<void>
}

interface ReplicaOptions {
  readonly name: string
  /** All variables but PORT. */
  readonly environment: Environment
  /** The preferred port; another one when it is in use. */
  readonly usualPort: number
  /** Called with each log line at LOG_LEVEL or above, and when the process has ended unexpectedly. */
  readonly onLine: (line: string) => void
}

interface Running {
  readonly child: ChildProcess
  readonly url: string
}

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))
const { values: LEVELS } = pino.levels
const INFO = LEVELS.info ?? 0
/** The last characters of a replica's output, which are kept for an error at its start. */
const MAX_OUTPUT = 10_000

const alive = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})

/**
 * Starts a replica, and returns when it listens. It does not outlive this process, unless an unhandled signal
 * ends this one.
 * @throws Error with its output, when it exits before
 */
export async function startReplica(options: ReplicaOptions): Promise<Replica> {
  const { name, usualPort, onLine } = options
  let isWanted = false

  async function launch(port: number): Promise<Running> {
    const launched = await launchService(options, port)
    isWanted = true
    launched.child.once('exit', (code, signal) => {
      if (isWanted) onLine(`has ended by itself (${signal ?? `exit code ${code}`})`)
    })
    return launched
  }
  function end(signal: NodeJS.Signals): Promise<void> {
    isWanted = false
    return terminate(running.child, signal)
  }

  let running = await atPreferredPort(usualPort, launch)
  const { url } = running
  return {
    name,
    url,
    pid: () => running.child.pid ?? 0,
    isRunning: () => alive.has(running.child),
    kill: () => end('SIGKILL'),
    async restart() {
      running = await launch(Number(new URL(url).port))
    },
    stop: () => end('SIGTERM'),
  }
}

/** @returns when it listens @throws Error with its output, when it exits before */
function launchService({ environment, onLine }: ReplicaOptions, port: number): Promise<Running> {
  const { LOG_LEVEL: level = 'info' } = environment
  const minLevel = LEVELS[level] ?? Number.POSITIVE_INFINITY
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), MAIN], {
    // A file .env in another working directory could change its variables.
    cwd: tmpdir(),
    // The log must contain the line with its URL, which has level info.
    env: { ...environment, PORT: String(port), LOG_LEVEL: minLevel < INFO ? level : 'info' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  alive.add(child)
  child.once('exit', () => alive.delete(child))

  return new Promise((resolve, reject) => {
    let output = ''
    let isListening = false
    createInterface(child.stdout).on('line', (line) => {
      output = `${output}${line}\n`.slice(-MAX_OUTPUT)
      const { level = 0, msg, url = '' } = readLine(line)
      if (level >= minLevel) onLine(line)
      if (msg !== 'listening') return
      isListening = true
      resolve({ child, url })
    })
    createInterface(child.stderr).on('line', (line) => {
      output = `${output}${line}\n`.slice(-MAX_OUTPUT)
      if (isListening) onLine(line)
    })
    child.once('error', reject)
    child.once('close', () => reject(new Error(`the service ended before it listened:\n${output}`)))
  })
}

/** Returns an empty object for a line that a signal has cut off. */
function readLine(line: string): { level?: number; msg?: string; url?: string } {
  try {
    return JSON.parse(line)
  } catch {
    return {}
  }
}
