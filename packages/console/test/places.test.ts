import { beforeEach, expect, it, vi } from 'vitest'
import { stubPage } from './page-globals.js'
import { eventOf } from './stream-event.js'

stubPage()
const listeners = new Map<string, (event: unknown) => void>()
vi.stubGlobal('addEventListener', (type: string, listener: (event: unknown) => void) =>
  listeners.set(type, listener),
)
const { parseRoute, route } = await import('../src/data/route.js')
const { chains, hrefHere } = await import('../src/data/chains.js')
const { latestEvents } = await import('../src/data/events.js')
const { solvers } = await import('../src/data/solvers/solvers.js')
const { tokens } = await import('../src/data/tokens/tokens.js')
const { placeOf } = await import('../src/data/search.js')
const { listenForShortcuts } = await import('../src/keyboard.js')

const [ADA, BOB, EVE, TOKEN, STRANGER] = ['a', 'b', 'e', '7', '1'].map(
  (digit) => `0x${digit.repeat(40)}`,
) as [string, string, string, string, string]
const [ORDER, TRANSACTION] = [`0x${'0d'.repeat(32)}`, `0x${'7f'.repeat(32)}`]
const QUOTE = 'dcf96d2e-dd7a-4365-86fc-3332145326be'

beforeEach(() => {
  chains.value = [1n, 7n].map((chainId) => ({ chainId })) as unknown as typeof chains.value
  const named = { [ADA]: 'Ada', [BOB]: 'Bob', [EVE]: 'Bobby' }
  solvers.value = new Map(
    Object.entries(named).map(([address, name]) => [address, { address, name }]),
  ) as unknown as typeof solvers.value
  tokens.value = {}
  latestEvents.value = [eventOf({ orderId: ORDER, transactionHash: TRANSACTION })]
  route.value = parseRoute('#/market')
})

it.each([
  ['', { page: 'swap', id: '' }],
  ['#/order/0x12?chain=7', { page: 'order', id: '0x12' }],
  ['#/solver/%F0%9F', { page: 'solver', id: '' }],
  ['#/nowhere', { page: undefined, id: '' }],
])('the hash %j is the place %j', (hash, place) => {
  expect(parseRoute(hash)).toMatchObject(place)
})

it.each([
  ['of the first chain without its id', '', '#/orders?state=settled'],
  ['of another chain with its id', '?chain=7', '#/orders?chain=7&state=settled'],
  ['of a chain that is not served without one', '?chain=999', '#/orders?state=settled'],
])('a link %s', (_chain, query, href) => {
  route.value = parseRoute(`#/market${query}`)
  expect(hrefHere('orders', '', { state: 'settled', user: undefined })).toBe(href)
})

it.each([
  ['an order', ` ${ORDER.toUpperCase().replace('0X', '0x')} `, `#/order/${ORDER}`],
  ['a transaction of the latest events', TRANSACTION, `#/order/${ORDER}`],
  ['a quote', QUOTE.toUpperCase(), `#/quote/${QUOTE}`],
  ["a solver's address", ADA, `#/solver/${ADA}`],
  ['another address', STRANGER, `#/orders?user=${STRANGER}`],
  ['a name', 'ADA', `#/solver/${ADA}`],
  ['the beginning of a name', 'bobb', `#/solver/${EVE}`],
  ['a whole name before longer ones', 'bob', `#/solver/${BOB}`],
  ['the beginning of several names', 'bo', '#/solvers'],
  ['the symbol of a listed token', 'weth', `#/swap?sell=${TOKEN}`],
  ["a token's address", TOKEN, `#/swap?sell=${TOKEN}`],
  ['the symbol of a token that is not listed', 'fake', undefined],
  ['nothing', '', undefined],
])('a search for %s', (_what, text, place) => {
  tokens.value = {
    [`1:${TOKEN}`]: { address: TOKEN, symbol: 'WETH', isListed: true, source: 'list' },
    [`1:${STRANGER.replaceAll('1', '2')}`]: { address: STRANGER, symbol: 'FAKE', source: 'link' },
  }
  expect(placeOf(text)).toBe(place)
})

it.each([
  ['g and s', ['g', 's'], {}, '#/swap'],
  ['g and m', ['g', 'm'], {}, '#/market'],
  ['g and v', ['g', 'v'], {}, '#/solvers'],
  ['g and o', ['g', 'o'], {}, '#/orders'],
  ['m alone', ['m'], {}, ''],
  ['g and another key before', ['g', 'x', 'm'], {}, ''],
  ['a key of the browser', ['g', 'm'], { ctrlKey: true }, ''],
  ['what is typed into a field', ['g', 'm'], { target: { closest: () => ({}) } }, ''],
])('the keys %s lead to their place', (_keys, keys, changes, hash) => {
  location.hash = ''
  listenForShortcuts()
  for (const key of keys) listeners.get('keydown')?.({ key, target: { closest: () => null }, ...changes })
  expect(location.hash).toBe(hash)
})
