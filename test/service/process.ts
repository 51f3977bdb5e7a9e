import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll } from 'vitest'

const running = new Set<ChildProcess>()

/** A test that fails half-way must not leave a process that goes on calling ports which others have by then. */
afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
})

/** A child process, its output as it comes, and its end. */
export function startProcess(
  command: string,
  args: readonly string[],
  environment: Record<string, string>,
  { ownGroup = false } = {},
) {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...environment }
  const child = spawn(command, args, { env, detached: ownGroup })
  running.add(child)
  child.once('exit', () => running.delete(child))
  let output = ''
  const listeners = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk
      for (const listener of listeners) listener()
    })
  }
  const exited = once(child, 'close').then(([code]) => code as number | null)

  return {
    output: () => output,
    /** Resolves with the exit code; null when a signal ended it. */
    exited,
    signal: (name: NodeJS.Signals) => child.kill(name),
    /** Of a process with a group of its own: whether it or any that it has started is still there. */
    leftSomething(): boolean {
      try {
        return process.kill(-(child.pid ?? 0), 0)
      } catch {
        return false
      }
    },
    /** Waits until the output matches; rejects when the process ends without. */
    waitFor(pattern: RegExp): Promise<RegExpExecArray> {
      return new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(output)
          if (match === null) return
          listeners.delete(look)
          resolve(match)
        }
        listeners.add(look)
        look()
        exited.then(() => reject(new Error(`ended without ${pattern}:\n${output}`)))
      })
    },
  }
}

/** The service as a process of its own, from the sources. */
export function startServiceProcess(environment: Record<string, string>, preload: readonly string[] = []) {
  const imports = ['tsx', ...preload].flatMap((module) => ['--import', module])
  return startProcess(process.execPath, [...imports, 'src/main.ts'], environment)
}
