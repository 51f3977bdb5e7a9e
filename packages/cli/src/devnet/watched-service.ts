import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { terminate } from './anvil.js'
import type { RunningService } from './network.js'
import { tryPort } from './preferred-port.js'

const PROBE_MS = 50

/** A program that is made of sources. */
export interface WatchedProgram {
  /** The program's file. */
  readonly path: string
  /** Makes it, now and after each change of a source. @param onMade called each time that it could be made */
  watch(onMade: () => void): Promise<void>
}

/**
 * Runs the service as a process that is started again each time that it was made. It keeps its port, and its database in a
 * temporary folder. When a build fails, the last one goes on.
 * @param environment variables of the service; `PORT` 0 takes any free one
 * @returns when it answers
 * @throws Node's error when the port is taken
 */
export async function startWatchedService(
  { path, watch }: WatchedProgram,
  environment: NodeJS.ProcessEnv,
): Promise<RunningService> {
  const port = await tryPort(Number(environment.PORT))
  const folder = mkdtempSync(join(tmpdir(), 'aggregator-'))
  const env = { ...environment, PORT: String(port), DB_PATH: join(folder, 'service.db') }
  let service: ChildProcess | undefined
  let restarting = Promise.resolve()

  async function restart(): Promise<void> {
    if (service !== undefined) await terminate(service, 'SIGKILL')
    service = spawn(process.execPath, ['--enable-source-maps', path], {
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
    })
  }
  await watch(() => {
    restarting = restarting.then(restart)
  })

  async function close(): Promise<void> {
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
