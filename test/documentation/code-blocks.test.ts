import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { codeBlocks, looksRunnable, withoutComments } from './code-blocks.js'
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

describe('the reader of code blocks', () => {
  it.each([
    ['sh', 'curl -s http://localhost:3000/health\n', true],
    ['sh', 'pass show solver | npx quote-aggregator register\n', true],
    ['', 'ID=$(curl -s http://localhost:3000)\n', true],
    ['js', 'console.log(1)\n', true],
    ['sh', 'systemctl start quote-aggregator\n', false],
    ['', '#  solver  sells\n', false],
    ['json', '{ "npx ": 1 }\n', false],
  ])('finds a block of "%s" with %j runnable: %s', (language, code, expected) => {
    expect(looksRunnable({ language, code })).toBe(expected)
  })

  it('reads the marker, the line and the response of a block', () => {
    const text =
      'A.\n\n<!-- example -->\n```sh\ncurl x\n```\n\n```jsonc\n{ "a": [/* b */] } // c\n```\n\n```js\n1\n```\n'
    const [example, answer, unmarked] = codeBlocks('README.md', text)
    expect(example).toMatchObject({ line: 5, language: 'sh', code: 'curl x\n', marker: 'example' })
    expect(JSON.parse(withoutComments(example?.answer ?? ''))).toEqual({ a: [] })
    expect(answer).toMatchObject({ language: 'jsonc', marker: undefined })
    expect(unmarked).toMatchObject({ line: 13, marker: undefined, answer: undefined })
  })

  it('does not read a text with slashes as a comment', () => {
    expect(withoutComments('{"url": "http://a/*"} // b')).toBe('{"url": "http://a/*"} ')
  })
})
