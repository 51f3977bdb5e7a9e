import { expect, it } from 'vitest'
import { ADDRESS, sampleChain } from '../samples.js'
import { clientAnswered } from '../server.js'

const token = (more: object = {}) => ({ address: ADDRESS, listed: false, orders24h: 0, ...more })

it('listTokens reads listed tokens, and those of which only the address is known', async () => {
  const known = {
    symbol: 'WETH',
    decimals: 18,
    listed: true,
    logo: '/logos/ab.svg',
    orders24h: 3,
    lastUsed: 1800,
  }
  const { client, url, paths } = await clientAnswered({ tokens: [token(known), token()] })
  const unknown = { symbol: undefined, decimals: undefined, logo: undefined, lastUsed: undefined }
  expect(await client.listTokens(1)).toEqual([
    { ...token(known), logo: `${url}/a/logos/ab.svg` },
    { ...token(), ...unknown },
  ])
  expect(paths).toEqual(['/a/v1/1/tokens'])
})

it.each(['https://b.example/x.svg', 'javascript:alert(1)', '/logos/a b', '', 7, '/x?y', '\\\\b'])(
  'listTokens has no logo for %j',
  async (logo) => {
    const { client } = await clientAnswered({ tokens: [token({ logo })] })
    expect((await client.listTokens(1))[0]?.logo).toBeUndefined()
  },
)

it('listPairs reads the volumes as bigint', async () => {
  const pair = {
    inputToken: ADDRESS,
    outputToken: ADDRESS,
    destinationChainId: 1,
    listed: true,
    orders24h: 2,
  }
  const volumes = { inputVolume24h: '5', outputVolume24h: '7' }
  const times = { medianFillMs24h: 1500, lastUsed: 1800 }
  const { client, paths } = await clientAnswered({
    pairs: [
      { ...pair, ...volumes, ...times },
      { ...pair, ...volumes },
    ],
  })
  const read = { ...pair, inputVolume24h: 5n, outputVolume24h: 7n }
  expect(await client.listPairs(1)).toEqual([
    { ...read, ...times },
    { ...read, medianFillMs24h: undefined, lastUsed: undefined },
  ])
  expect(paths).toEqual(['/a/v1/1/pairs'])
})

it.each([
  [{ name: 'Base', explorerUrl: 'https://basescan.org' }, ['Base', 'https://basescan.org']],
  [{}, ['Chain 7', undefined]],
  [{ explorerUrl: 'javascript:alert(1)' }, ['Chain 7', undefined]],
])('a chain with %j has the name and the explorer %j', async (more, expected) => {
  const { client } = await clientAnswered({
    chains: [{ ...sampleChain(7), name: undefined, explorerUrl: undefined, ...more }],
  })
  const [chain] = await client.listChains()
  expect([chain?.name, chain?.explorerUrl]).toEqual(expected)
})
