#!/usr/bin/env node
import { processEnvironment } from '../config.js'
import { run } from './program.js'

let interrupted: AbortController | undefined

/** The signals end the process as usual until a command asks for them. */
function interruption(): AbortSignal {
  if (interrupted !== undefined) return interrupted.signal
  const controller = new AbortController()
  interrupted = controller
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort())
  return controller.signal
}

/** Who reads may go away before the end, as `head` does. */
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
// Not left to itself, since a connection that hangs would hold the process; what was written goes out before.
process.stdout.write('', () => process.exit())
