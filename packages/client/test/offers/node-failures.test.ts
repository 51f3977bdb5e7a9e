import { createClient, custom, decodeFunctionData, encodeFunctionResult, type Hex, toHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { settlementAbi } from '../../../../gen/contracts/settlement.js'
import { limitsOf, readSettlement, type SettlementTerms, verifyQuote } from '../../src/index.js'
import { offerOf, QUOTE, TERMS } from './signed-offer.js'

const SETTLEMENT = TERMS.settlement
const { name, version } = TERMS.domain
/** The contract covers nothing: 5 % of the output is more than the bond. */
const VIEWS: Readonly<Record<string, unknown>> = {
  eip712Domain: ['0x0f', name, version, 31337n, SETTLEMENT, toHex(0, { size: 32 }), []],
  DEPOSIT_PROXY_CREATION_CODE_HASH: TERMS.depositProxyCodeHash,
  solvers: [1_000n, 0n, 0n, 0, true],
  isNonceUsed: false,
  BOND_RESERVATION_BPS: 500n,
  MIN_ORDER: 1n,
}

/** What a provider in a page rejects with when its own node fails. */
const PROVIDER_FAILURES = [
  { code: -32603, message: 'Internal JSON-RPC error.' },
  { code: -32603, message: 'execution reverted' },
  { code: -32603, message: 'Internal JSON-RPC error.', data: { code: -32000, message: 'header not found' } },
  { code: -32603, message: 'upstream', data: { cause: { message: 'execution reverted' } } },
]

/** A provider of a page, as viem takes it. @param fault answers a function in the contract's place */
function createProvider(fault: (functionName: string) => unknown = () => undefined) {
  const request = async ({ method, params }: { method: string; params: [{ data: Hex }] }) => {
    if (method === 'eth_chainId') return '0x7a69'
    if (method === 'eth_getBlockByNumber') return { timestamp: toHex(1_000_000) }
    if (method === 'eth_blockNumber') return '0x64'
    if (method === 'eth_getCode') return '0x6000'
    const { functionName } = decodeFunctionData({ abi: settlementAbi, data: params[0].data })
    const failure = fault(functionName)
    if (typeof failure === 'string') return failure
    if (failure !== undefined) throw failure
    return encodeFunctionResult({ abi: settlementAbi, functionName, result: VIEWS[functionName] } as never)
  }
  return createClient({ transport: custom({ request }, { retryCount: 0 }) })
}

const verify = async (client: SettlementTerms['client']) => {
  const terms = await readSettlement(createProvider(), SETTLEMENT)
  return verifyQuote(await offerOf(), { ...terms, client, limits: limitsOf(QUOTE), now: TERMS.now })
}

it('a good node shows that no bond covers the offer', async () => {
  await expect(verify(createProvider())).rejects.toMatchObject({ problems: ['bond_too_small'] })
})

describe.each(PROVIDER_FAILURES)('a provider that fails with %j', (failure) => {
  it.each(['solvers', 'isNonceUsed', 'BOND_RESERVATION_BPS', 'MIN_ORDER'])(
    'at %s has verifyQuote throw its words',
    async (view) => {
      const client = createProvider((asked) => (asked === view ? failure : undefined))
      await expect(verify(client)).rejects.toThrow(
        new RegExp(`${view} could not be read: .*${failure.message}`),
      )
    },
  )

  it.each(['eip712Domain', 'DEPOSIT_PROXY_CREATION_CODE_HASH'])(
    'at %s has readSettlement throw its words',
    async (view) => {
      const client = createProvider((asked) => (asked === view ? failure : undefined))
      await expect(readSettlement(client, SETTLEMENT)).rejects.toThrow(
        new RegExp(`${view} could not be read: .*${failure.message}`),
      )
    },
  )
})

it('a node that answers nothing once does not hide what the contract says', async () => {
  const asked = new Set<string>()
  const client = createProvider((name) => {
    const isFirst = !asked.has(name)
    asked.add(name)
    return isFirst ? '0x' : undefined
  })
  expect((await readSettlement(client, SETTLEMENT)).domain).toMatchObject({ name })
  await expect(verify(client)).rejects.toMatchObject({ problems: ['bond_too_small'] })
})
