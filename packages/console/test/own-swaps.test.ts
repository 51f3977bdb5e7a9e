import { afterAll, expect, it, vi } from 'vitest'
import { signedQuote } from '../../../test/support/solvers/sample-quotes.js'
import { addressUse } from '../src/data/orders/address-use.js'
import {
  begunSwaps,
  ownSwap,
  rememberSwap,
  storedQuote,
  toStoredQuote,
} from '../src/data/orders/own-swaps.js'
import { toConsoleOffer } from './console-offer.js'

vi.hoisted(() => {
  vi.stubGlobal('addEventListener', () => {})
  const swap = { chainId: 1, orderId: '0x05', quoteId: '', isBegun: true }
  const stored = JSON.stringify([null, 5, { chainId: 'x' }, swap])
  vi.stubGlobal('localStorage', { getItem: () => stored, setItem: () => {} })
})
afterAll(() => void vi.unstubAllGlobals())

const offer = toConsoleOffer(signedQuote())
const NOW_MS = (offer.quote.depositDeadline - 600) * 1000

it('has no offer for a stored one whose amounts are no numbers', () => {
  const swap = { chainId: 31337, orderId: offer.orderId, quoteId: 'a quote' }
  expect(storedQuote({ ...swap, signedQuote: toStoredQuote(offer) })?.orderId).toBe(offer.orderId)
  for (const name of ['inputAmount', 'outputAmount', 'nonce']) {
    const quote = { ...(toStoredQuote(offer) as { quote: object }).quote, [name]: 'abc' }
    expect(storedQuote({ ...swap, signedQuote: { quote } as never })).toBe(undefined)
  }
})

it('knows a stored swap on its own chain only, whatever else is stored', () => {
  expect(begunSwaps(1n).map(({ orderId }) => orderId)).toEqual(['0x05'])
  expect([ownSwap(1n, '0x05')?.chainId, ownSwap(2n, '0x05')]).toEqual([1, undefined])
})

it('lists swaps that are not over before those that are', () => {
  const before = begunSwaps(31337n).length
  for (const orderId of ['0x0a', '0x0b', '0x0c'])
    rememberSwap({ chainId: 31337, orderId, quoteId: '', isBegun: true, isOver: orderId !== '0x0a' })
  const listed = begunSwaps(31337n).map(({ orderId }) => orderId)
  expect([listed[0], ...listed.slice(before + 1)]).toEqual(['0x0a', '0x0c', '0x0b'])
})

it('asks for no second payment of an address that has the tokens, whoever has sent them', () => {
  const { inputAmount } = offer.quote
  const useWith = (held: bigint) => addressUse(offer.quote, undefined, { held, isDead: false, nowMs: NOW_MS })
  const uses = [0n, BigInt(inputAmount) - 1n, BigInt(inputAmount)].map(useWith)
  // A wallet would send the whole a second time.
  expect(uses).toEqual(['pay', 'pay the rest', 'paid'])
  const dead = { held: undefined, isDead: true, nowMs: NOW_MS }
  expect(addressUse(offer.quote, undefined, dead)).toBe('dead')
})
