import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { BUILT } from '../../../test/support/process/built.js'

const FOLDER = join(BUILT, 'console')
const MOST_BYTES = 110_000
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8')
const compressedBytes = (name: string) => readFileSync(join(FOLDER, `${name}.gz`)).length

/** The files that a browser loads before a wallet is connected. */
function firstFiles(): string[] {
  const page = read('index.html')
  const named = [...page.matchAll(/(?:src|href)="\.\/([^"#]+\.\w+)"/g)].map(([, name = '']) => name)
  const imported = named
    .filter((name) => name.endsWith('.js'))
    .flatMap((name) => [...read(name).matchAll(/(?:^|[;}])import(?:[^'"()]*from)?["']\.\/([^"']+)["']/g)])
    .map(([, name = '']) => `assets/${name}`)
  return ['index.html', ...new Set([...named, ...imported])]
}

it('the console loads at most 110 kB before a wallet is connected', () => {
  const files = firstFiles()
  expect(files.some((name) => name.endsWith('.js')) && files.some((name) => name.endsWith('.css'))).toBe(true)
  expect(files.filter((name) => name.includes('wallet'))).toEqual([])
  const bytes = files.reduce((sum, name) => sum + compressedBytes(name), 0)
  expect(bytes).toBeLessThanOrEqual(MOST_BYTES)
})

it('what talks to wallets is a file of its own', () => {
  expect(readdirSync(join(FOLDER, 'assets')).filter((name) => /^wallet-.*\.js$/.test(name))).toHaveLength(1)
})

it('the console names no other host that it could load from', () => {
  const scripts = firstFiles().filter((name) => /\.(js|css|html)$/.test(name))
  const hosts = scripts.flatMap((name) => read(name).match(/https?:\/\/[\w.-]+/g) ?? [])
  expect(hosts.filter((host) => !/www\.w3\.org|localhost|127\.0\.0\.1/.test(host))).toEqual([])
})
