/** Compiles what others import of the package, the client and the generated code, with its types, into dist/package. */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'

rmSync('dist/package', { recursive: true, force: true })
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
execFileSync(process.execPath, [compiler, '--project', 'tsconfig.package.json'], { stdio: 'inherit' })
