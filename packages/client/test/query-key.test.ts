import { expect, it } from 'vitest'
import { queryKey } from '../src/index.js'

it('a query key of requests and answers with amounts is JSON', () => {
  const key = queryKey('quote', { chainId: 1, amount: 10n ** 30n, depositWindow: undefined }, [5n])
  expect(key).toEqual(['quote', { chainId: 1, amount: `1${'0'.repeat(30)}` }, ['5']])
  expect(JSON.parse(JSON.stringify(key))).toEqual(key)
})
