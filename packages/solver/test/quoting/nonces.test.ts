import { expect, it } from 'vitest'
import { modeOfNonce } from '../../../protocol/src/quotes/nonce-mode.js'
import { createNonces, fromWord, toWords } from '../../src/quoting/nonces.js'

it.each(['CONTRACT', 'ADDRESS'] as const)(
  'nonces for %s follow each other whatever comes between them, say their mode, and two starts share none',
  (mode) => {
    const [one, other] = [createNonces(), createNonces()]
    const first = one(mode)
    one(mode === 'CONTRACT' ? 'ADDRESS' : 'CONTRACT')
    const [second, foreign] = [one(mode), other(mode)]
    expect(second - first).toBe(1n)
    expect(first >> 32n).not.toBe(foreign >> 32n)
    expect([first & 0xffff_ffffn, first >> 160n]).toEqual([0n, 0n])
    expect(modeOfNonce(first)).toBe(mode)
  },
)

it('nonces that follow each other are one word, and a word has its nonces again', () => {
  const base = (5n << 40n) + 250n
  const nonces = Array.from({ length: 10 }, (_, index) => base + BigInt(index))
  const words = toWords(nonces)
  expect(words).toEqual([
    { word: base >> 8n, mask: 0b111111n << 250n },
    { word: (base >> 8n) + 1n, mask: 0b1111n },
  ])
  expect(words.flatMap(fromWord)).toEqual(nonces)
})
