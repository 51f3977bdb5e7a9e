import type { ChildProcess } from 'node:child_process'
import { BUILT } from './built.js'
import { startChild } from './child-process.js'

const running = new Set<ChildProcess>()

/** Ends what a test file has left: a process that goes on would call ports that others may have by then. */
export function endProcesses(): void {
  for (const child of running) child.kill('SIGKILL')
}

/** A child process that does not outlive the test file. */
export function startProcess(...parameters: Parameters<typeof startChild>) {
  const started = startChild(...parameters)
  const { child } = started
  running.add(child)
  child.once('exit', () => running.delete(child))
  return started
}

/**
 * The service as a process of its own, as it is built.
 * @param preload modules that Node loads before it
 * @param flags of Node
 */
export function startServiceProcess(
  environment: Record<string, string>,
  { preload = [], flags = [] }: { preload?: readonly string[]; flags?: readonly string[] } = {},
) {
  const imports = preload.flatMap((module) => ['--import', module])
  return startProcess(process.execPath, [...flags, ...imports, `${BUILT}/main.js`], environment)
}
