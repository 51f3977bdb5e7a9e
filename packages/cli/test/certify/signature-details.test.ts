import { domainSeparator, hashTypedData, type TypedDataDomain, zeroHash } from 'viem'
import { describe, expect, it } from 'vitest'
import { INPUT_TOKEN, OUTPUT_TOKEN, USER } from '../../../../test/support/solvers/sample-quotes.js'
import { QUOTE_MEMBERS, type QuoteRequest } from '../../../protocol/src/quotes/quote.js'
import { deadlines } from '../../../protocol/src/signing/quote-request.js'
import { createQuoteHasher, toChecksumAddress } from '../../../protocol/src/signing/typed-data.js'
import { describeSignature } from '../../src/certify/signature-details.js'
import { devAccounts } from '../../src/devnet/deploy.js'

const [account] = devAccounts
const solver = account.address.toLowerCase() as `0x${string}`
const settlement = '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'
const domain = {
  name: 'Settlement',
  version: '1',
  chainId: 5,
  verifyingContract: toChecksumAddress(settlement),
}
const signing = {
  hasher: createQuoteHasher('Service', {
    settlement,
    domainSeparator: domainSeparator({ domain }),
    depositProxyCodeHash: zeroHash,
  }),
  typedData: { primaryType: 'ServiceQuote', domain },
}
const request: QuoteRequest = {
  kind: 'FIRM',
  chainId: 5,
  inputToken: INPUT_TOKEN,
  outputToken: OUTPUT_TOKEN,
  orderType: 'EXACT_INPUT',
  amount: 1000n,
  user: USER,
  destinationChainId: 5,
  depositMode: 'CONTRACT',
  ...deadlines(1_800_000_000_000, { depositWindowSeconds: 300, fillWindowSeconds: 120 }),
}
const { depositDeadline, fillDeadline } = request
const struct = {
  solver,
  user: USER,
  inputToken: INPUT_TOKEN,
  inputAmount: 1000n,
  outputToken: OUTPUT_TOKEN,
  outputAmount: 3000n,
  orderType: 0,
  outputChainId: 5n,
  depositDeadline,
  fillDeadline,
  nonce: 7n,
}
const quote = { ...struct, inputAmount: '1000', outputAmount: '3000', outputChainId: 5, nonce: '7' }

function typedData(change: TypedDataDomain, primaryType = 'ServiceQuote') {
  const types = { [primaryType]: QUOTE_MEMBERS }
  return { domain: { ...domain, ...change }, types, primaryType, message: struct } as never
}

async function mistakeOf(signature: Promise<string>) {
  return describeSignature(signing, request, solver, { quote, signature: await signature })?.likelyMistake
}

describe('the likely mistake of a signature is', () => {
  it.each<[string, TypedDataDomain, string]>([
    ['another name', { name: 'Service' }, 'with the domain\'s name "Service"'],
    ['another version', { version: '2' }, 'with the domain\'s version "2"'],
    ['another chain', { chainId: 1 }, "with the domain's chainId 1"],
    ['no code', { verifyingContract: undefined }, "without the domain's verifyingContract"],
  ])('%s in the domain', async (_, change, mistake) => {
    expect(await mistakeOf(account.signTypedData(typedData(change)))).toBe(`The quote was signed ${mistake}.`)
  })

  it('another primary type', async () => {
    const mistake = await mistakeOf(account.signTypedData(typedData({}, 'Quote')))
    expect(mistake).toBe('The quote was signed as Quote, and not as ServiceQuote.')
  })

  it('a personal message', async () => {
    const raw = hashTypedData(typedData({}))
    expect(await mistakeOf(account.signMessage({ message: { raw } }))).toContain('personal message (EIP-191)')
  })

  it('unknown for a signature over other values', async () => {
    const other = { ...(typedData({}) as object), message: { ...struct, nonce: 8n } } as never
    expect(await mistakeOf(account.signTypedData(other))).toBeUndefined()
  })
})

it('the digest is the one of viem', async () => {
  const signature = await devAccounts[1].signTypedData(typedData({}))
  const details = describeSignature(signing, request, solver, { quote, signature })
  expect(details).toMatchObject({
    digest: hashTypedData(typedData({})),
    expectedSigner: account.address,
    recoveredSigner: devAccounts[1].address,
    message: { outputAmount: '3000', nonce: '7' },
  })
})
