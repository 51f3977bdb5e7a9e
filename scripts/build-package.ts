/**
 * Compiles a package and its types into its `dist`. The compiler follows its imports into `src`, `gen` and the other
 * packages, so that all share one source, and the package contains what it needs.
 *
 *   tsx scripts/build-package.ts client|solver
 */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL(`../packages/${process.argv[2]}/`, import.meta.url))
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')

rmSync(`${folder}dist`, { recursive: true, force: true })
execFileSync(process.execPath, [compiler, '--project', folder], { stdio: 'inherit' })
