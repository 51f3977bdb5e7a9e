import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, watch } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Environment } from '../config/environment.js'
import { terminate } from './anvil.js'
import type { RunningService } from './network.js'
import { tryPort } from './preferred-port.js'

/** An editor may write a file in several steps. */
const SETTLE_MS = 50
const PROBE_MS = 50

/** A program that is made of sources. */
export interface WatchedProgram {
  /** Folders whose changes make the program anew. */
  readonly sources: readonly string[]
  /** The program's file. */
  readonly path: string
  /** Makes it. @returns whether it could be made */
  build(): Promise<boolean>
  /** Called with the path of a changed source, before the build. */
  onChange(path: string): void
}

/**
 * Runs the service as a process that is built and started again when a source changes. It keeps its port, and its database in a
 * temporary folder. When a build fails, the last one goes on.
 * @param environment variables of the service; `PORT` 0 takes any free one
 * @returns when it answers
 * @throws Node's error when the port is taken
 */
export async function startWatchedService(
  { sources, path, build, onChange }: WatchedProgram,
  environment: Environment,
): Promise<RunningService> {
  const port = await tryPort(Number(environment.PORT))
  const folder = mkdtempSync(join(tmpdir(), 'aggregator-'))
  const env = { ...environment, PORT: String(port), DB_PATH: join(folder, 'service.db') }
  let service: ChildProcess | undefined

  async function restart(): Promise<void> {
    if (!(await build())) return
    if (service !== undefined) await terminate(service, 'SIGKILL')
    service = spawn(process.execPath, ['--enable-source-maps', path], {
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
    })
  }

  let restarting = restart()
  let settling: NodeJS.Timeout | undefined
  const watchers = sources.map((source) =>
    watch(source, { recursive: true }, (_event, name) => {
      clearTimeout(settling)
      settling = setTimeout(() => {
        onChange(join(source, name ?? ''))
        restarting = restarting.then(restart)
      }, SETTLE_MS)
    }),
  )
  async function close(): Promise<void> {
    clearTimeout(settling)
    for (const watcher of watchers) watcher.close()
    await restarting
    if (service !== undefined) await terminate(service, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }

  const url = `http://127.0.0.1:${port}`
  while (!(await answers(url))) await delay(PROBE_MS)
  return { url, close }
}

function answers(url: string): Promise<boolean> {
  return fetch(`${url}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  )
}
