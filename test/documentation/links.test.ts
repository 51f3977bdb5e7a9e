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
  it('reads links, pictures and anchors outside of code', () => {
    const text =
      '[a](b.md#c) ![p](d.svg) [e](https://x.y/z.md) [f](#g)\n```\n[h](i.md)\n# no\n```\n<img src="j.svg">'
    const paths = linksOf(text).map(({ path, anchor }) => `${path}#${anchor}`)
    expect(paths).toEqual(['b.md#c', 'd.svg#', '#g', 'j.svg#'])
  })

  it('makes the anchors that GitHub makes', () => {
    const text =
      '# Is it `a_b`?\n## [Two](x.md) words\n### Two words\n| <a id="here"></a>`x` |\n```\n# none\n```\n'
    expect([...anchorsOf(text)]).toEqual(['here', 'is-it-a_b', 'two-words', 'two-words-1'])
  })

  it('reads names of documents in other files', () => {
    const text = '# see docs/a.md\nrunbook: docs/b.md#c-d\nDocumentation=file:///opt/x/docs/e.md'
    expect(mentionsIn(text).map(({ path, anchor }) => `${path}#${anchor}`)).toEqual([
      'docs/a.md#',
      'docs/b.md#c-d',
    ])
  })

  it('finds a file and an anchor that do not exist', () => {
    const links = [
      { path: 'LICENSE', anchor: '' },
      { path: 'README.md', anchor: 'start' },
      { path: 'README.md', anchor: 'no-such-heading' },
      { path: 'no-such-file.md', anchor: '' },
    ]
    expect(brokenLinks(links, '.', 'README.md')).toEqual(['README.md#no-such-heading', 'no-such-file.md'])
  })
})
