import { encodeAbiParameters, type Hex, numberToHex, padHex, stringToHex } from 'viem'
import { expect, it } from 'vitest'
import { only } from '../../../../test/support/only.js'
import { ChainReadError, readToken } from '../../src/index.js'

const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const textOf = (text: string) => encodeAbiParameters([{ type: 'string' }], [text])
const wordOf = (number: bigint) => numberToHex(number, { size: 32 })

/** A node with a token that answers so; undefined reverts. */
function read(symbol: Hex | undefined, decimals: Hex | undefined) {
  const request = async ({ params: [{ data }] }: { readonly params: readonly [{ readonly data: Hex }] }) => {
    const answer = data === '0x95d89b41' ? symbol : decimals
    if (answer === undefined) throw { code: 3, message: 'execution reverted' }
    return answer
  }
  return readToken(only({ request }), TOKEN.toLowerCase() as Hex)
}

it('reads a token through the node of the user', async () => {
  expect(await read(textOf('WETH'), wordOf(18n))).toEqual({ address: TOKEN, symbol: 'WETH', decimals: 18 })
  expect(await read(textOf('MAX'), wordOf(255n))).toMatchObject({ decimals: 255 })
})

it.each([
  ['32 bytes', padHex(stringToHex('MKR'), { size: 32, dir: 'right' }), 'MKR'],
  ['an empty text', textOf(''), undefined],
  ['none', undefined, undefined],
])('takes %s for a symbol', async (_, symbol, expected) => {
  expect(await read(symbol, wordOf(18n))).toMatchObject({ symbol: expected, decimals: 18 })
})

it.each([
  ['none', undefined],
  ['256', wordOf(256n)],
  ['2^24, with which a page that formats an amount does not end', wordOf(2n ** 24n)],
  ['2^200', wordOf(2n ** 200n)],
  ['a part of a word', '0x12'],
] as const)('refuses a token whose decimals are %s', async (_, decimals) => {
  await expect(read(textOf('ODD'), decimals)).rejects.toThrow(ChainReadError)
})

it('refuses what is no address without a request', async () => {
  await expect(readToken(only({}), '0x12')).rejects.toMatchObject({ reason: 'INVALID_ARGUMENT' })
})
