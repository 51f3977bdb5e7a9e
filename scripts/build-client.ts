/**
 * Compiles the client and its types into packages/client/dist. The compiler follows its imports into `src/domain` and
 * `gen`, so that the client and the service share one source, and the package contains what it needs.
 */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../packages/client/', import.meta.url))
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')

rmSync(`${folder}dist`, { recursive: true, force: true })
execFileSync(process.execPath, [compiler, '--project', folder], { stdio: 'inherit' })
