#!/usr/bin/env node
import { processEnvironment } from '../config/config.js'
import { run } from './program.js'

let interrupted: AbortController | undefined

/** The signals end the process as usual until a command calls `interruption`. */
function interruption(): AbortSignal {
  if (interrupted !== undefined) return interrupted.signal
  const controller = new AbortController()
  interrupted = controller
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => controller.abort())
  return controller.signal
}

/** The reader of the output may end before this process, as `head` does. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

const { stdout, stderr, stdin } = process
process.exitCode = await run(process.argv.slice(2), {
  stdout,
  stderr,
  stdin,
  environment: processEnvironment,
  interruption,
})
// An explicit exit, since a connection that hangs would keep the process alive. The output is written before.
process.stdout.write('', () => process.exit())
