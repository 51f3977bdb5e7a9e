import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { findDanglingCitations, type Texts } from './citations.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FOLDERS = ['src', 'proto/aggregator', 'test', 'packages', 'scripts', 'bench', 'examples', 'deploy']
const SOURCE = /\.(ts|tsx|js|mjs|json|sol|proto|ya?ml|service|go|py)$/
const FOREIGN = /(^|\/)(node_modules|dist)\//
/** This file contains invalid citations on purpose. */
const THIS_FILE = 'test/documentation/citations.test.ts'

function readTexts(folders: readonly string[], isWanted: (path: string) => boolean): Texts {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
      join(folder, path).replaceAll('\\', '/'),
    ),
  )
  const wanted = paths.filter((path) => isWanted(path) && !FOREIGN.test(path))
  return new Map(wanted.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]))
}

const documents: Texts = new Map([
  ...readTexts(['docs', 'examples', 'packages'], (path) => path.endsWith('.md')),
  ...readdirSync(ROOT)
    .filter((path) => path.endsWith('.md'))
    .map((path) => [path, readFileSync(join(ROOT, path), 'utf8')] as const),
])
const sources = readTexts(FOLDERS, (path) => SOURCE.test(path) && path !== THIS_FILE)

test('every citation in the code names a document, decision or section of this repository', () => {
  expect(findDanglingCitations(sources, documents)).toEqual([])
})

test('the code cites decisions and sections of the protocol', () => {
  const cited = [...sources.values()].join('\n')
  expect(cited).toContain('docs/decisions.md, D4')
  expect(cited).toContain('docs/protocol.md, "Signatures"')
})

test.each([
  ['(docs/decisions.md, D4, D13)', []],
  ['(docs/decisions.md,\n * D10). More.', []],
  ['(docs/protocol.md, "Deposit address")', []],
  ['(docs/decisions.md, D4, D99)', ['docs/decisions.md has no D99']],
  ['(docs/decisions.md D4)', ['D4 without its document']],
  ['(D4)', ['D4 without its document']],
  ['(decisions.md, D4)', ['decisions.md does not exist']],
  ['(docs/protocol.md, "Deposits")', ['docs/protocol.md has no section "Deposits"']],
  ['(specification, section 2.3)', ['specification, section 2.3 without its document']],
  ['(RFC 6455, section 7.4)', []],
])('findDanglingCitations finds in the comment %j the problems %j', (comment, problems) => {
  const found = findDanglingCitations(new Map([['a.ts', `/** A rule ${comment} */`]]), documents)
  expect(found).toEqual(problems.map((problem) => `a.ts: ${problem}`))
})
