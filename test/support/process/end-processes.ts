import { afterAll } from 'vitest'
import { endProcesses } from './process.js'

// Vitest keeps a hundred frames of each error, and each timeout that is not needed makes an error: a twentieth of the time.
Error.stackTraceLimit = 20

afterAll(endProcesses)
// A file without a test to run, as one that is skipped, runs no hooks. Vitest ends its worker by a signal, which ends no children.
if (process.listenerCount('SIGTERM') === 0) process.once('SIGTERM', () => process.exit())
