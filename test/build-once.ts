import { execFileSync } from 'node:child_process'
import { BUILT } from './service/built.js'

/** The first project of a run builds for all of them. */
const built = globalThis as { isServiceBuilt?: boolean }

/** Builds the service before the first test that starts it as a process. From its sources, a start takes a second longer. */
export function setup(): void {
  if (built.isServiceBuilt) return
  built.isServiceBuilt = true
  execFileSync('node', ['--import', 'tsx', 'scripts/build.ts', BUILT], { stdio: 'inherit' })
}
