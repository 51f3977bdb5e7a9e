import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { codeBlocks, looksRunnable } from './code-blocks.js'
import { WITH_EXAMPLES } from './documents.js'

describe('documents', () => {
  it.each(WITH_EXAMPLES)('have in %s a marker at each block that a reader would run', (document) => {
    const unmarked = codeBlocks(document).filter(
      (block) => looksRunnable(block) && block.marker === undefined,
    )
    expect(unmarked.map(({ line, code }) => `${document}:${line} ${code.split('\n')[0]}`)).toEqual([])
  })

  it.each(WITH_EXAMPLES)(
    'have in %s only known markers, and a reason for each block that is not run',
    (document) => {
      const markers = codeBlocks(document).flatMap(({ marker }) => marker ?? [])
      const unknown = markers.filter(
        (marker) =>
          !/^(example(: (stream|client|quotes|replicas|session|swap))?|part of \S+|not run: \S.*)$/.test(
            marker,
          ),
      )
      expect(unknown).toEqual([])
    },
  )

  it('have each part of a file as it is in the file', () => {
    const parts = WITH_EXAMPLES.flatMap((document) => codeBlocks(document)).flatMap(
      ({ marker = '', code }) => {
        const [, file] = /^part of (.*)$/.exec(marker) ?? []
        return file === undefined ? [] : [{ code, file }]
      },
    )
    expect(parts).not.toEqual([])
    for (const { code, file } of parts) expect(readFileSync(file, 'utf8')).toContain(code)
  })
})
