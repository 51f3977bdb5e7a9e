import type { Address } from 'viem'
import { describe, expect, it } from 'vitest'
import { createAggregatorClient, type InstanceTrust, readSettlement } from '../../src/index.js'
import { sampleChain } from '../samples.js'
import { sendJson, serve } from '../server.js'
import { createContractClient, WILLING } from './contract-client.js'
import { TERMS } from './signed-offer.js'

const PINNED: Address = `0x${'77'.repeat(20)}`
const LISTED: Address = `0x${'33'.repeat(20)}`
const { name, version } = TERMS.domain
const createNode = () => createContractClient({ ...WILLING, chainId: 10 })

/** An instance that serves these chains. */
async function createInstance(chains: readonly object[]) {
  const { url, requests } = await serve((_request, response) => sendJson(response, 200, { chains }))
  return { aggregator: createAggregatorClient({ baseUrl: url }), requests }
}

describe('readSettlement', () => {
  it('reads the contract that the app pins', async () => {
    const terms = await readSettlement(createNode(), PINNED, { protocolName: 'Pinned' })
    expect(terms).toMatchObject({ chainId: 10, settlement: PINNED, protocolName: 'Pinned' })
    expect(terms.domain).toEqual({ name, version, chainId: 10n, verifyingContract: PINNED })
    expect((await readSettlement(createNode(), PINNED)).protocolName).toBe('Service')
  })

  it.each([
    ['lower case', '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'],
    ['capitals', '0xE7F1725E7734CE288F8367E1BB143E90BB3F0512'],
    ['EIP-55', '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'],
    ['another checksum', '0xE7f1725e7734CE288F8367e1Bb143E90bb3F0512'],
  ] as const)('takes the address in %s', async (_name, address) => {
    const { settlement } = await readSettlement(createNode(), address)
    expect(settlement).toBe('0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512')
  })

  it("takes the address and the name from a trusted instance, and the rest from the user's node", async () => {
    const listed = { ...sampleChain(10, LISTED), protocolName: 'Listed', domain: { name: 'Invented' } }
    const { aggregator } = await createInstance([sampleChain(1), listed])
    const trust = { trustInstance: true, aggregator } as const
    const terms = await readSettlement(createNode(), trust)
    expect(terms).toMatchObject({ chainId: 10, settlement: LISTED, protocolName: 'Listed' })
    expect(terms.domain).toMatchObject({ name, verifyingContract: LISTED })
    expect(terms.depositProxyCodeHash).toBe(TERMS.depositProxyCodeHash)
    const named = await readSettlement(createNode(), trust, { protocolName: 'Pinned' })
    expect(named.protocolName).toBe('Pinned')
  })

  it("throws CHAIN_NOT_SUPPORTED when the instance does not serve the node's chain", async () => {
    const { aggregator } = await createInstance([sampleChain(1)])
    await expect(readSettlement(createNode(), { trustInstance: true, aggregator })).rejects.toMatchObject({
      name: 'AggregatorError',
      reason: 'CHAIN_NOT_SUPPORTED',
      message: 'The instance does not serve chain 10.',
    })
  })

  it.each([undefined, null, '', '0x12'])('names the settlement when it is %j', async (settlement) => {
    const reading = readSettlement(createNode(), settlement as unknown as InstanceTrust)
    await expect(reading).rejects.toMatchObject({
      reason: 'INVALID_ARGUMENT',
      violations: [{ field: 'settlement', message: 'must be a 20-byte address in hex with 0x' }],
    })
  })

  it.each([undefined, false, 'true', 1])('does not ask an instance with trustInstance %j', async (said) => {
    const { aggregator, requests } = await createInstance([sampleChain(10)])
    const trust = { trustInstance: said, aggregator } as unknown as InstanceTrust
    await expect(readSettlement(createNode(), trust)).rejects.toMatchObject({
      reason: 'INVALID_ARGUMENT',
      violations: [{ field: 'trustInstance', message: 'must be true: the instance could name any contract' }],
    })
    expect(requests()).toBe(0)
  })

  it('compiles only with a pinned address, or with the literal true', async () => {
    const { aggregator } = await createInstance([sampleChain(1)])
    const calls = [
      // @ts-expect-error An instance alone is not trusted.
      () => readSettlement(createNode(), { aggregator }),
      // @ts-expect-error The risk is said in the source, not in a variable.
      (isTrusted: boolean) => readSettlement(createNode(), { trustInstance: isTrusted, aggregator }),
    ]
    for (const call of calls) await expect(call(true)).rejects.toMatchObject({ name: 'AggregatorError' })
  })
})
