import { expect, it } from 'vitest'
import { sampleChain } from '../samples.js'
import { clientAnswered } from '../server.js'

it('the chains of an instance come with their amounts as bigint', async () => {
  const { client, paths } = await clientAnswered({ chains: [sampleChain(1), sampleChain(10)] })
  expect(await client.listChains()).toEqual([
    { ...sampleChain(1), minimumBond: 1000n },
    { ...sampleChain(10), minimumBond: 1000n },
  ])
  expect(paths).toEqual(['/a/v1/chains'])
})

it('a chain that the instance has not read yet has no domain, no bond token and no head', async () => {
  const { domain, bondToken, headBlock, ...unread } = { ...sampleChain(1), status: 'down' }
  const { client } = await clientAnswered({ chains: [unread] })
  expect(await client.listChains()).toEqual([{ ...unread, minimumBond: 1000n }])
})

it('a newer instance may give a chain a status that the client passes on', async () => {
  const { client } = await clientAnswered({ chains: [{ ...sampleChain(1), status: 'ECLIPSED' }] })
  expect((await client.listChains())[0]?.status).toBe('ECLIPSED')
})

it.each([
  ['no list', { chains: {} }],
  ['a contract that is no address', { chains: [{ ...sampleChain(1), settlement: '0x12' }] }],
  ['a bond that is no amount', { chains: [{ ...sampleChain(1), minimumBond: 'all' }] }],
  ['a domain that is no object', { chains: [{ ...sampleChain(1), domain: 'Service' }] }],
])('an answer with %s is not understood', async (_name, body) => {
  const { client } = await clientAnswered(body)
  await expect(client.listChains()).rejects.toMatchObject({ reason: 'ANSWER_INVALID' })
})
