import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import type { BuildOptions } from 'esbuild'
import { DOCS_FOLDER, DOCUMENTS, SWAGGER_UI_FILES } from '../src/http/pages/reference.js'

/** How esbuild bundles the service. */
export const BUNDLE: BuildOptions = {
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
  // The first two are for commands other than `serve`, packages with native parts cannot be bundled, and the last three are optional ones of `pg` and `ws`.
  external: [
    '@modelcontextprotocol/server',
    'zod',
    'secp256k1',
    '@foundry-rs/anvil',
    'pg-native',
    'bufferutil',
    'utf-8-validate',
  ],
  // Bundled CommonJS packages need `require`.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
  logLevel: 'warning',
}
/** Copies what the service reads at run time. To run it, only the external packages above must be installed. */
export async function copyFiles(outdir: string): Promise<void> {
  for (const name of SWAGGER_UI_FILES)
    await cp(join('node_modules/@fastify/swagger-ui/static', name), join(outdir, 'swagger-ui', name))
  await cp(DOCS_FOLDER, join(outdir, 'docs'), { recursive: true })
  for (const name of DOCUMENTS) await cp(join('gen', name), join(outdir, name))
}
