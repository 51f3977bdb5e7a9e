import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'

const CLIENT = fileURLToPath(new URL('../client/src/index.ts', import.meta.url))

/** Writes each file a second time with gzip, so that the service compresses nothing. */
function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    writeBundle({ dir = '' }) {
      const files = readdirSync(dir, { recursive: true, withFileTypes: true })
      for (const file of files.filter((entry) => entry.isFile() && !entry.name.endsWith('.gz'))) {
        const path = join(file.parentPath, file.name)
        writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }))
      }
    },
  }
}

/** Pages have parts in common: `<!-- part NAME -->` stands for the file of that name. */
const parts: Plugin = {
  name: 'parts',
  transformIndexHtml: {
    order: 'pre',
    handler: (html) =>
      html.replace(/<!-- part (\w+) -->/g, (_, name) =>
        readFileSync(new URL(`parts/${name}.html`, import.meta.url), 'utf8'),
      ),
  },
}

export default defineConfig({
  // Relative, so that the console works under any prefix that a proxy adds.
  base: './',
  plugins: [parts, precompress()],
  resolve: { alias: { '@quote-aggregator/client': CLIENT } },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    rollupOptions: { input: ['index.html', 'help.html', 'lost.html'] },
    // Data URLs would hide files from the limit of the size.
    assetsInlineLimit: 0,
  },
  server: { proxy: { '^/(v1|health|aggregator\\.v1)': { target: 'http://127.0.0.1:3000', ws: true } } },
})
