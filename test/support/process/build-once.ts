import { execFileSync } from 'node:child_process'
import { BUILT } from './built.js'

/** The first project of a run builds for all of them. */
const built = globalThis as { isServiceBuilt?: boolean }

/** Builds the service before the first test, for tests that start it, or its thread: from its sources, it takes a second more. */
export function setup(): void {
  if (built.isServiceBuilt) return
  built.isServiceBuilt = true
  execFileSync('node', ['--import', 'tsx', 'scripts/build.ts', BUILT], { stdio: 'inherit' })
}
