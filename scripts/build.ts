/**
 * Bundles the service into few files. Each command of the command line loads its own files when it runs.
 *
 *   tsx scripts/build.ts [folder=dist]
 *
 * The folder must be one in the project's root: the service reads package.json from the folder above.
 */
import { cp, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { build as buildWithVite } from 'vite'
import { DOCUMENTS, SWAGGER_UI_FILES } from '../src/http/pages/reference.js'

const folder = process.argv[2] ?? 'dist'
/** A build that is interrupted leaves the last one as it is. */
const outdir = join('node_modules/.cache', `${folder}-${process.pid}`)

const options: BuildOptions = {
  outdir,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  // Without the comments, whose characters would make V8 keep two bytes for each of a file. Stack traces keep all names, and
  // lines in which a column is found.
  minifyWhitespace: true,
  lineLimit: 120,
  legalComments: 'external',
  // The other file has the WebAssembly of all hashes.
  alias: { 'hash-wasm': 'hash-wasm/dist/keccak.umd.min.js' },
  // Packages with native parts cannot be bundled; the last three are optional ones of `pg` and `ws`.
  external: ['better-sqlite3', 'secp256k1', '@foundry-rs/anvil', 'pg-native', 'bufferutil', 'utf-8-validate'],
  // Bundled CommonJS packages need `require`.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
  logLevel: 'warning',
}
/** The command `serve` runs the service as it is built. */
const serveBuilt: Plugin = {
  name: 'serve-built',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\.\/\.\.\/main\.js$/ }, () => ({ path: './main.js', external: true })),
}
await build({ ...options, entryPoints: { cli: 'src/cli/main.ts' }, splitting: true, plugins: [serveBuilt] })
// A separate build: chunks that it shares with the command line would load more into the process than it needs.
await build({ ...options, entryPoints: ['src/main.ts'] })
// The service reads these files at run time. To run it, only the external packages above must be installed.
for (const { name } of SWAGGER_UI_FILES)
  await cp(join('node_modules/@fastify/swagger-ui/static', name), join(outdir, 'swagger-ui', name))
for (const name of DOCUMENTS) await cp(join('gen', name), join(outdir, name))
await buildWithVite({
  root: 'packages/console',
  build: { outDir: resolve(outdir, 'console'), emptyOutDir: true },
  logLevel: 'warn',
})
await rm(folder, { recursive: true, force: true })
await rename(outdir, folder)
