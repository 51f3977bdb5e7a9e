import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { findViolations, importsOf, type SourceFiles } from './import-rules.js'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

function readSources(): SourceFiles {
  const files = ['src', 'packages/client/src'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => `${folder}/${path.replaceAll('\\', '/')}`),
  )
  return new Map(files.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]))
}

test('the sources and their imports are found', () => {
  const sources = readSources()
  expect(sources.size).toBeGreaterThan(40)
  const app = importsOf('src/app.ts', sources.get('src/app.ts') ?? '')
  expect(app.map(({ target }) => target)).toContain('src/http/server.ts')
})

test('the sources import only what their layer allows', () => {
  expect(findViolations(readSources())).toEqual([])
})
