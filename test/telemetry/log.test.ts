import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLog, createPrettyStream } from '../../src/telemetry/log.js'

/** The characters that control a terminal, or that it hides or reorders. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}\u3164]|\u{e0100}/u
/** Text of any code units, with many of those that are not printable. */
const hostile = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom(
      '\x1b',
      '\x7f',
      '\x9b',
      '\u202e',
      '\u200b',
      '\u2028',
      '\u{e0041}',
      '\u3164',
      '\ud800',
      '"',
      '\\',
    ),
  ),
})

function createTextLog() {
  const texts: string[] = []
  return { texts, log: createLog('debug', { write: (text) => void texts.push(text) }) }
}

describe('a line of the log', () => {
  it('is printable JSON of one line for any text', () => {
    const { texts, log } = createTextLog()
    const property = fc.property(hostile, hostile, hostile, (message, key, value) => {
      log.child({ bound: value }).warn({ [`x${key}`]: value, err: new Error(message) }, message)
      const text = texts.at(-1) ?? ''
      expect(text.slice(0, -1)).not.toMatch(UNPRINTABLE)
      const line = JSON.parse(text)
      expect([line.msg, line.bound, line[`x${key}`]]).toEqual([message, value, value])
    })
    fc.assert(property, { seed: 20_261_121, numRuns: 500 })
  })

  it('for a terminal shows control characters as escapes', async () => {
    const texts: string[] = []
    const stream = await createPrettyStream({ write: (text) => void texts.push(text) })
    const log = createLog('debug', stream)
    log.warn({ reason: '\x1b[2J \u202e' }, 'a\r\x9b\\u001b')
    expect(texts.join('')).toContain('a\\r\\u009b\\u001b')
    const property = fc.property(hostile, hostile, (message, value) => {
      texts.length = 0
      log.warn({ reason: value, err: new Error(message) }, message)
      for (const line of texts.join('').split('\n'))
        expect(line.replaceAll('\t', '')).not.toMatch(UNPRINTABLE)
    })
    fc.assert(property, { seed: 20_261_121, numRuns: 300 })
  })
})
