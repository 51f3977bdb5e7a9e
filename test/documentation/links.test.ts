import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DEPLOYMENT_FILES, DOCUMENTS } from './documents.js'
import { anchorsOf, type Link, linksOf, mentionsIn } from './links.js'

const read = (path: string) => readFileSync(path, 'utf8')

/** @param base folder that the links are relative to */
function brokenLinks(links: readonly Link[], base: string, self: string): string[] {
  return links
    .filter(({ path, anchor }) => {
      const file = path === '' ? self : join(base, path)
      if (!existsSync(file)) return true
      return anchor !== '' && file.endsWith('.md') && !anchorsOf(read(file)).has(anchor)
    })
    .map(({ path, anchor }) => (anchor === '' ? path : `${path}#${anchor}`))
}

describe('documents', () => {
  it.each(DOCUMENTS)('have in %s only links to files and headings that exist', (document) => {
    expect(brokenLinks(linksOf(read(document)), dirname(document), document)).toEqual([])
  })

  it('have in README.md a link to each document of docs', () => {
    const linked = linksOf(read('README.md')).map(({ path }) => path)
    const unlinked = DOCUMENTS.filter(
      (document) => document.startsWith('docs/') && !linked.includes(document),
    )
    expect(unlinked).toEqual([])
  })

  it.each(['packages/client/README.md', 'packages/solver/README.md'])(
    'have in %s only links within the package',
    (document) => {
      expect(linksOf(read(document)).filter(({ path }) => path.startsWith('..'))).toEqual([])
    },
  )

  it.each(DEPLOYMENT_FILES)('are named in %s only with files and headings that exist', (file) => {
    expect(brokenLinks(mentionsIn(read(file)), '.', file)).toEqual([])
  })

  it('are cited in code only by decisions and sections that exist', () => {
    const citation = 'docs/[a-z-]+\\.md(, D[0-9]+)*(, "[^"]+")?'
    const cited = execFileSync('git', ['grep', '-hoE', citation, 'src', 'packages', 'proto'], {
      encoding: 'utf8',
    })
    const unknown = [...new Set(cited.trim().split('\n'))].filter((text) => {
      const [document = '', ...places] = text.split(', ')
      return places.some(
        (place) =>
          !read(document).includes(place.startsWith('"') ? `# ${place.slice(1, -1)}\n` : `## ${place} `),
      )
    })
    expect(cited).toContain('docs/decisions.md, D4')
    expect(unknown).toEqual([])
  })
})
