import { expect, it } from 'vitest'
import { createNonces, fromWord, toWords } from '../../src/quoting/nonces.js'

it('nonces of a start follow each other, and two starts share none', () => {
  const [one, other] = [createNonces(), createNonces()]
  const [first, second, foreign] = [one(), one(), other()]
  expect(second - first).toBe(1n)
  expect(first >> 32n).not.toBe(foreign >> 32n)
  expect([first & 0xffff_ffffn, first < 2n ** 128n]).toEqual([0n, true])
})

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
