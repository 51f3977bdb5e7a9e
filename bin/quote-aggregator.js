#!/usr/bin/env node
// npx in a clone links the file of `bin` once and for all, so that it must exist before the first build.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const program = new URL('../dist/cli.js', import.meta.url)
if (existsSync(program)) await import(program.href)
else {
  const folder = fileURLToPath(new URL('..', import.meta.url))
  process.stderr.write(
    `error: quote-aggregator is not built yet. Run this first: npm run build (in ${folder})\n`,
  )
  process.exitCode = 1
}
