import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestProject } from 'vitest/node'
import { setup as providePostgres } from '../databases/postgres-once.js'
import { BUILT } from './built.js'

/** The first project of a run builds for all of them. */
const shared = globalThis as { serviceBuild?: Promise<void> }

/** Builds the service before the first test, for tests that start it, or its thread: from its sources, it takes a second more. */
function buildOnce(): Promise<void> {
  shared.serviceBuild ??= build()
  return shared.serviceBuild
}

async function build(): Promise<void> {
  // As it is shipped: in a test, vite would keep what is for development only.
  const env = { ...process.env, NODE_ENV: 'production' }
  const builder = spawn('node', ['--import', 'tsx', 'scripts/build.ts', BUILT], { stdio: 'inherit', env })
  const [code] = await once(builder, 'exit')
  if (code !== 0) throw new Error(`the build of the service ended with ${code}`)
}

/** Prepares what the tests of all projects use, at the same time: the build, and PostgreSQL. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [endPostgres] = await Promise.all([providePostgres(project), buildOnce()])
  return endPostgres
}
