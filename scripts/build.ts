/**
 * Bundles the service into few files. Each command of the command line loads its own files when it runs.
 *
 *   tsx scripts/build.ts [folder=dist]
 *
 * The folder must be one in the project's root: the service reads package.json from the folder above.
 */
import { rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { build as buildWithVite } from 'vite'
import { BUNDLE, copyFiles } from './bundle.js'

const folder = process.argv[2] ?? 'dist'
/** A build that is interrupted leaves the last one as it is. */
const outdir = join('node_modules/.cache', `${folder}-${process.pid}`)

/** The command `serve` runs the service as it is built. */
const serveBuilt: Plugin = {
  name: 'serve-built',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\.\/\.\.\/main\.js$/ }, () => ({ path: './main.js', external: true })),
}
await build({
  ...BUNDLE,
  outdir,
  entryPoints: { cli: 'src/operator/cli.ts' },
  splitting: true,
  plugins: [serveBuilt],
})
// A separate build: chunks that it shares with the command line would load more into the process than it needs.
await build({ ...BUNDLE, outdir, entryPoints: ['src/main.ts'] })
await copyFiles(outdir)
await buildWithVite({
  root: 'packages/console',
  build: { outDir: resolve(outdir, 'console'), emptyOutDir: true },
  logLevel: 'warn',
})
await rm(folder, { recursive: true, force: true })
await rename(outdir, folder)
