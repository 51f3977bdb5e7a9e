import { create } from '@bufbuild/protobuf'
import { beforeAll, expect, it, vi } from 'vitest'
import { ChainSchema } from '../../../gen/aggregator/v1/chain_pb.js'
import { SolverSchema } from '../../../gen/aggregator/v1/solver_pb.js'
import { only } from '../../../test/support/only.js'
import { MAX_UINT256 } from '../../protocol/src/field-rules.js'
import { chain, chains, hrefHere, hrefOn } from '../src/data/chains.js'
import { latestEvents } from '../src/data/events.js'
import { parseRoute, route } from '../src/data/route.js'
import { placeOf } from '../src/data/search.js'
import { solvers } from '../src/data/solvers/solvers.js'
import { chainIdOfNames, learnToken } from '../src/data/tokens/tokens.js'
import { readSwapParams } from '../src/pages/swap/swap-params.js'
import { auctionRequest, readWantedSwap } from '../src/pages/swap/wanted-swap.js'

await vi.hoisted(async () => (await import('./page-globals.js')).stubPage())

const [WETH, USDC, ADA, USER] = ['a', 'b', 'c', '1'].map((digit) => `0x${digit.repeat(40)}`) as [
  string,
  string,
  string,
  string,
]
const [ORDER, TRANSACTION] = [`0x${'2'.repeat(64)}`, `0x${'3'.repeat(64)}`]
const QUOTE = '5e1f0000-0000-4000-8000-000000000000'
/** The first example of EIP-55 with one letter in another case. */
const MISTYPED = '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

beforeAll(() => {
  chains.value = [1n, 10n].map((chainId) => create(ChainSchema, { chainId }))
  chainIdOfNames.value = 1n
  for (const [address, symbol, decimals] of [
    [WETH, 'WETH', 18],
    [USDC, 'USDC', 6],
  ] as const)
    learnToken(1, { address, symbol, decimals, isListed: true, source: 'list' })
  const names = [
    ['Ada', ADA],
    ['Beatrix', `0x${'d'.repeat(40)}`],
    ['Bea', `0x${'e'.repeat(40)}`],
  ] as const
  solvers.value = new Map(names.map(([name, address]) => [address, create(SolverSchema, { name, address })]))
  const event = { transactionHash: TRANSACTION, orderId: ORDER }
  latestEvents.value = [only(event)]
})

it.each([
  ['the name of a solver', 'ADA', `#/solver/${ADA}`],
  ['a part of it', 'Ad', `#/solver/${ADA}`],
  ['a part of two names', 'Be', '#/solvers'],
  ['a name that another one begins with', 'bea', `#/solver/0x${'e'.repeat(40)}`],
  ['a solver', ADA.toUpperCase().replace('X', 'x'), expect.stringMatching(/^#\/solver\/0xC/)],
  ['a token', WETH, `#/swap?sell=${WETH}`],
  ['its symbol', 'weth', `#/swap?sell=${WETH}`],
  ['a user', ` ${USER} `, `#/orders?user=${USER}`],
  ['an order', ORDER, `#/order/${ORDER}`],
  ['the transaction of a recent event', TRANSACTION, `#/order/${ORDER}`],
  ['a quote', QUOTE.toUpperCase(), `#/quote/${QUOTE}`],
  ['anything else', 'nonsense', undefined],
])('the search for %s leads to its place', (_, text, place) => {
  expect(placeOf(text)).toEqual(place)
})

it('links stay on the chain of the URL, and of one that is not served there is none', () => {
  route.value = parseRoute('#/market?chain=10')
  expect([chain.value?.chainId, hrefHere('orders'), hrefOn(1, 'orders')]).toEqual([
    10n,
    '#/orders?chain=10',
    '#/orders',
  ])
  route.value = parseRoute('#/market?chain=999')
  expect(chain.value).toBeUndefined()
  route.value = parseRoute('#/nothing')
  expect([route.value.page, parseRoute('').page]).toEqual([undefined, 'swap'])
})

it('a link names tokens and an amount, and only suggests who gets the output', () => {
  const link = `#/swap?sell=${WETH}:18:USDC&buy=${USDC}&mode=address&for=${USER}`
  const params = readSwapParams(parseRoute(link))
  expect(params).toMatchObject({ sell: WETH, buy: USDC, mode: 'address', user: '', suggestedUser: USER })
  expect(readWantedSwap({ chainId: 1n }, params, undefined).wanted).toMatchObject({
    amount: 10n ** 18n,
    user: '',
  })
  for (const wrong of [MISTYPED, `0x${'0'.repeat(40)}`])
    expect(readSwapParams(parseRoute(`#/swap?for=${wrong}`)).suggestedUser).toBe('')
})

it.each([
  [{ amount: '0.1234567890123456789' }, 'The token has 18 decimals only'],
  [{ amount: '1,000' }, 'Write 1000 or 1.000'],
  [{ amount: '-1' }, 'Enter an amount above 0'],
  [{ amount: '1.000,50' }, 'Write digits and one point only, such as 1000.5'],
  [{ amount: '1.5 WETH' }, 'Write digits and one point only, such as 1000.5'],
  [{ user: `0x${'0'.repeat(40)}` }, 'Enter a valid address'],
  [{ user: MISTYPED }, 'The address has a typing error: its checksum is wrong'],
  [{ sell: '' }, 'Choose the tokens'],
  [{ sell: USDC.toUpperCase() }, 'Choose two different tokens'],
  [{ sell: USER }, expect.stringContaining('does not list these tokens')],
])('the form asks for nothing with %j, and says why', (changes, problem) => {
  const params = { ...readSwapParams(parseRoute(`#/swap?sell=${WETH}&buy=${USDC}&mode=address`)), ...changes }
  expect(readWantedSwap({ chainId: 1n }, params, undefined)).toEqual({ wanted: undefined, problem })
})

const SERVED = { chainId: 31337n, verifyMax: 0, defaultDepositWindow: 300 }
const WANTED = {
  inputToken: '0x01',
  outputToken: '0x02',
  isExactInput: true,
  amount: 1000n,
  user: '0x03',
  mode: 'CONTRACT',
} as const

it.each([
  ['one prompt is enough', WANTED, 1000n, SERVED, 60],
  ['an approval is needed first', WANTED, 999n, SERVED, undefined],
  ['the allowance is not known yet', WANTED, undefined, SERVED, undefined],
  ['the input of an exact output may be more', { ...WANTED, isExactInput: false }, 1000n, SERVED, undefined],
  ['the wallet sends batches', { ...WANTED, isExactInput: false }, MAX_UINT256, SERVED, 60],
  ['an address is paid', { ...WANTED, mode: 'ADDRESS' as const }, MAX_UINT256, SERVED, undefined],
  ['all prices bind as short', WANTED, 1000n, { ...SERVED, defaultDepositWindow: 60 }, undefined],
])('when %s, an auction asks for prices that bind for that long', (_, wanted, onePrompt, chain, expected) => {
  expect(auctionRequest(chain, wanted, '0x03', onePrompt).minDepositWindow).toBe(expected)
})
