import {
  createClient,
  custom,
  decodeFunctionData,
  domainSeparator,
  encodeFunctionResult,
  type Hex,
  hexToBytes,
  toHex,
} from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { settlementAbi } from '../../../../gen/contracts/settlement.js'
import { signQuote } from '../../../../test/support/chain/signed-quote.js'
import { toContractQuote } from '../../../protocol/src/quotes/quote.js'
import { createQuoteHasher } from '../../../protocol/src/signing/typed-data.js'
import { readSettlement, type SettlementTerms, type SignedQuote, verifyQuote } from '../../src/index.js'

const MNEMONIC = 'test test test test test test test test test test test junk'
const solver = mnemonicToAccount(MNEMONIC, { addressIndex: 2 })
const SETTLEMENT = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
const CODE_HASH: Hex = `0x${'c0'.repeat(32)}`
/** The contract covers nothing: 5 % of the output is more than the bond. */
const VIEWS: Readonly<Record<string, unknown>> = {
  eip712Domain: ['0x0f', 'Own', '2', 31337n, SETTLEMENT, toHex(0, { size: 32 }), []],
  DEPOSIT_PROXY_CREATION_CODE_HASH: CODE_HASH,
  solvers: [1_000n, 0n, 0n, 0, true],
  isNonceUsed: false,
  BOND_RESERVATION_BPS: 500n,
  MIN_ORDER: 1n,
}
const LIMITS = { maxInputAmount: 10n, minOutputAmount: 1_000_000n }
const domain = { name: 'Own', version: '2', chainId: 31337, verifyingContract: SETTLEMENT } as const

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

async function createOffer(): Promise<SignedQuote> {
  const quote: SignedQuote['quote'] = {
    solver: solver.address,
    user: `0x${'01'.repeat(20)}`,
    inputToken: `0x${'02'.repeat(20)}`,
    inputAmount: 10n,
    outputToken: `0x${'03'.repeat(20)}`,
    outputAmount: 1_000_000n,
    orderType: 'EXACT_INPUT',
    outputChainId: 31337,
    depositDeadline: 1_000_300,
    fillDeadline: 1_000_420,
    nonce: 7n,
  }
  const signature = await signQuote(solver, domain, toContractQuote(quote))
  const hasher = createQuoteHasher('Service', {
    settlement: SETTLEMENT.toLowerCase() as Hex,
    domainSeparator: domainSeparator({ domain }),
    depositProxyCodeHash: CODE_HASH,
  })
  return { quote, signature, ...hasher.identify(hasher.hash(quote).structHash, hexToBytes(signature)) }
}

const verify = async (client: SettlementTerms['client']) => {
  const terms = await readSettlement(createProvider(), SETTLEMENT)
  return verifyQuote(await createOffer(), { ...terms, client, limits: LIMITS, now: 1_000_000 })
}

it('a good node shows that no bond covers the offer', async () => {
  await expect(verify(createProvider())).rejects.toMatchObject({ problems: ['bond_too_small'] })
})

describe.each(PROVIDER_FAILURES)('a provider that fails with %j', (failure) => {
  it.each(['solvers', 'isNonceUsed', 'BOND_RESERVATION_BPS', 'MIN_ORDER'])(
    'at %s has verifyQuote throw its words',
    async (name) => {
      const client = createProvider((asked) => (asked === name ? failure : undefined))
      await expect(verify(client)).rejects.toThrow(
        new RegExp(`${name} could not be read: .*${failure.message}`),
      )
    },
  )

  it.each(['eip712Domain', 'DEPOSIT_PROXY_CREATION_CODE_HASH'])(
    'at %s has readSettlement throw its words',
    async (name) => {
      const client = createProvider((asked) => (asked === name ? failure : undefined))
      await expect(readSettlement(client, SETTLEMENT)).rejects.toThrow(
        new RegExp(`${name} could not be read: .*${failure.message}`),
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
  expect((await readSettlement(client, SETTLEMENT)).domain).toMatchObject({ name: 'Own' })
  await expect(verify(client)).rejects.toMatchObject({ problems: ['bond_too_small'] })
})
