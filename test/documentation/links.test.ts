import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DEPLOYMENT_FILES, DOCUMENTS } from './documents.js'
import { anchorsOf, type Link, linksOf, mentionsIn } from './links.js'

const read = (path: string) => readFileSync(path, 'utf8')

/** @param base folder that the links start from */
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
  it.each(DOCUMENTS)('%s links to files and headings that exist', (document) => {
    expect(brokenLinks(linksOf(read(document)), dirname(document), document)).toEqual([])
  })

  it('README.md leads to each document of docs', () => {
    const linked = linksOf(read('README.md')).map(({ path }) => path)
    const unlinked = DOCUMENTS.filter(
      (document) => document.startsWith('docs/') && !linked.includes(document),
    )
    expect(unlinked).toEqual([])
  })

  it('the README of the client package links to nothing outside of the package', () => {
    expect(linksOf(read('packages/client/README.md')).filter(({ path }) => path.startsWith('..'))).toEqual([])
  })

  it.each(DEPLOYMENT_FILES)('%s names documents and headings that exist', (file) => {
    expect(brokenLinks(mentionsIn(read(file)), '.', file)).toEqual([])
  })
})

describe('the check of links', () => {
  const written = ({ path, anchor }: Link) => `${path}#${anchor}`

  it('reads links and pictures outside of code, and none to other places', () => {
    const text =
      '[a](LICENSE#c) ![p](d.svg) [e](https://example.org/f) [g](#h)\n```\n[i](j)\n```\n<img src="k.svg">'
    expect(linksOf(text).map(written)).toEqual(['LICENSE#c', 'd.svg#', '#h', 'k.svg#'])
  })

  it('makes the anchors that GitHub makes', () => {
    const text =
      '# Is it `a_b`?\n## [Two](LICENSE) words\n### Two words\n| <a id="here"></a>`x` |\n```\n# none\n```\n'
    expect([...anchorsOf(text)]).toEqual(['here', 'is-it-a_b', 'two-words', 'two-words-1'])
  })

  it('reads the documents that other files name', () => {
    const text =
      '# see docs/api.md\nrunbook: docs/cli.md#exit-codes\nDocumentation=file:///opt/quote-aggregator/README.md'
    expect(mentionsIn(text).map(written)).toEqual(['docs/api.md#', 'docs/cli.md#exit-codes'])
  })

  it('finds a file and an anchor that do not exist', () => {
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
