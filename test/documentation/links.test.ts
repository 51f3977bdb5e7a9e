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
})

describe('the reader of links', () => {
  const written = ({ path, anchor }: Link) => `${path}#${anchor}`

  it('finds links and pictures to repository files outside of code', () => {
    const text =
      '[a](LICENSE#c) ![p](d.svg) [e](https://example.org/f) [g](#h)\n```\n[i](j)\n```\n<img src="k.svg">'
    expect(linksOf(text).map(written)).toEqual(['LICENSE#c', 'd.svg#', '#h', 'k.svg#'])
  })

  it('makes the same anchors as GitHub', () => {
    const text =
      '# Is it `a_b`?\n## [Two](LICENSE) words\n### Two words\n| <a id="here"></a>`x` |\n```\n# none\n```\n'
    expect([...anchorsOf(text)]).toEqual(['here', 'is-it-a_b', 'two-words', 'two-words-1'])
  })

  it('finds the documents that other files name', () => {
    const text =
      '# see docs/api.md\nmore: docs/cli.md#exit-codes\nDocumentation=file:///opt/quote-aggregator/README.md'
    expect(mentionsIn(text).map(written)).toEqual(['docs/api.md#', 'docs/cli.md#exit-codes'])
  })

  it('reports a file and an anchor that do not exist', () => {
    const links = [
      { path: 'LICENSE', anchor: '' },
      { path: 'README.md', anchor: 'start' },
      { path: '', anchor: 'start' },
      { path: 'README.md', anchor: 'no-such-heading' },
      { path: 'no-such-file', anchor: '' },
    ]
    expect(brokenLinks(links, '.', 'README.md')).toEqual(['README.md#no-such-heading', 'no-such-file'])
  })
})
