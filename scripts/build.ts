/**
 * Puts the service into few files: it starts in half the time, and takes a fifth less memory, than from its modules.
 * The command line brings what each command needs in files of their own, loaded when it is called.
 */
import { rm } from 'node:fs/promises'
import { build } from 'esbuild'

await rm('dist', { recursive: true, force: true })
await build({
  entryPoints: {
    main: 'src/main.ts',
    cli: 'src/cli/main.ts',
    'quote-record-thread': 'src/store/quote-record-thread.ts',
  },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  // Packages with native parts, or with files that are read as they are, stay where those are; the last two are
  // optional ones of `ws`.
  external: [
    'better-sqlite3',
    'secp256k1',
    '@fastify/swagger-ui',
    '@foundry-rs/anvil',
    'bufferutil',
    'utf-8-validate',
  ],
  // For the CommonJS packages among what is bundled.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
  logLevel: 'warning',
})
