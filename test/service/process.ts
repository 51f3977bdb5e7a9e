import type { ChildProcess } from 'node:child_process'
import { afterAll } from 'vitest'
import { startChild } from './child-process.js'

const running = new Set<ChildProcess>()

/** A test that fails half-way must not leave a process that goes on calling ports which others have by then. */
afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
})

/** A child process that does not outlive the test file. */
export function startProcess(...parameters: Parameters<typeof startChild>) {
  const started = startChild(...parameters)
  const { child } = started
  running.add(child)
  child.once('exit', () => running.delete(child))
  return started
}

/** The service as a process of its own, from the sources. */
export function startServiceProcess(environment: Record<string, string>, preload: readonly string[] = []) {
  const imports = ['tsx', ...preload].flatMap((module) => ['--import', module])
  return startProcess(process.execPath, [...imports, 'src/main.ts'], environment)
}
