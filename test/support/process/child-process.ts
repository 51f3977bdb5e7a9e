import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** A child process, its output as it comes, and its end. */
export function startChild(
  command: string,
  args: readonly string[],
  environment: Record<string, string>,
  { ownGroup = false, cwd }: { readonly ownGroup?: boolean; readonly cwd?: string } = {},
) {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...environment }
  const child = spawn(command, args, { env, detached: ownGroup, ...(cwd === undefined ? {} : { cwd }) })
  let output = ''
  let errors = ''
  const listeners = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk
      for (const listener of listeners) listener()
    })
  }
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk
  })
  const exited = once(child, 'close').then(([code]) => code as number | null)

  return {
    child,
    output: () => output,
    /** Its output on standard error only. */
    errors: () => errors,
    /** Resolves with the exit code; null when a signal ended it. */
    exited,
    signal: (name: NodeJS.Signals) => child.kill(name),
    /** For a process with a group of its own: whether it or a process that it started still runs. */
    leftSomething(): boolean {
      try {
        return process.kill(-(child.pid ?? 0), 0)
      } catch {
        return false
      }
    },
    /** Waits until the output matches. Rejects when the process ends before. */
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
