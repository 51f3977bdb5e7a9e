import { expect, it } from 'vitest'
import { isTrusted, type KnownToken, markOf, merged } from '../src/data/tokens/known-token.js'

const address = `0x${'1'.repeat(40)}`
const listed: KnownToken = {
  address,
  symbol: 'USDC',
  decimals: 6,
  logo: '/logos/a.svg',
  isListed: true,
  source: 'list',
}
const instance: KnownToken = { address, symbol: 'SCAM', decimals: 18, isListed: false, source: 'instance' }
const link: KnownToken = { address, symbol: 'DAI', source: 'link' }
const wallet: KnownToken = { address, symbol: 'OTHER', decimals: 8, source: 'wallet' }

/** What is known after the sources have spoken in this order, and in the opposite one. */
function known(...sources: KnownToken[]) {
  const after = (order: KnownToken[]) => order.reduce<KnownToken | undefined>(merged, undefined)
  const [one, other] = [after(sources), after(sources.toReversed())]
  expect(one).toEqual(other)
  return one as KnownToken
}

it('a link gives a token its name only until the instance, the list or the wallet has spoken', () => {
  expect(known(link).symbol).toBe('DAI')
  expect(known(link, instance).symbol).toBe('SCAM')
  expect(known(link, listed).symbol).toBe('USDC')
  expect(known(link, wallet).symbol).toBe('OTHER')
})

it('the list names its tokens, and the contract says their decimals once a wallet has read them', () => {
  expect(known(listed, wallet)).toMatchObject({
    symbol: 'USDC',
    decimals: 8,
    logo: '/logos/a.svg',
    isListed: true,
  })
  expect(known(listed, { ...wallet, decimals: undefined }).decimals).toBe(6)
})

it('only the list and the wallet decide what a typed amount means', () => {
  expect([link, instance, listed, wallet, undefined].map(isTrusted)).toEqual([
    false,
    false,
    true,
    true,
    false,
  ])
})

it('a symbol that is not listed is marked, and one that may not be shown is none', () => {
  expect([link, instance, wallet, listed].map(markOf)).toEqual([
    'from this link',
    'unlisted',
    'unlisted',
    undefined,
  ])
  expect(merged(undefined, { ...instance, symbol: '\u202eCDSU' }).symbol).toBeUndefined()
})
