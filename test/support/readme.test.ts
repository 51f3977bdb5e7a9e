import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const index = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
const named = [...index.matchAll(/`([\w/-]+\.(?:ts|mjs|sol))`/g)].map(([, path = '']) => path)
const fixtures = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => /\.(ts|mjs|sol)$/.test(path) && !path.endsWith('.test.ts'))

test('the index names every fixture', () => {
  expect(fixtures.filter((path) => !named.includes(path))).toEqual([])
})

test('every fixture that the index names exists', () => {
  expect(named.filter((path) => !fixtures.includes(path))).toEqual([])
})

test('every function that the index gives with its file is exported there', () => {
  const functions = [...index.matchAll(/`(\w+)` of `([\w/-]+\.ts)`/g)]
  const missing = functions.filter(([, name, path = '']) => {
    const source = readFileSync(join(import.meta.dirname, path), 'utf8')
    return !new RegExp(`^export (async )?function ${name}\\b`, 'm').test(source)
  })
  expect(missing.map(([text]) => text)).toEqual([])
  expect(functions.length).toBeGreaterThan(5)
})

test('the index has at most 60 lines', () => {
  expect(index.trimEnd().split('\n').length).toBeLessThanOrEqual(60)
})

test('the folder of the service tests holds only tests', () => {
  const folder = join(import.meta.dirname, '../service')
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  expect(files.map(({ name }) => name).filter((name) => !name.endsWith('.test.ts'))).toEqual([])
})
