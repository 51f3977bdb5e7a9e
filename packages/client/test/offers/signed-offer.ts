import { domainSeparator, type Hex, hexToBytes } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { signQuote } from '../../../../test/support/chain/signed-quote.js'
import { toContractQuote } from '../../../protocol/src/quotes/quote.js'
import { createQuoteHasher } from '../../../protocol/src/signing/typed-data.js'
import type { QuoteParams, SignedQuote } from '../../src/index.js'

const MNEMONIC = 'test test test test test test test test test test test junk'
const settlement = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
export const solver = mnemonicToAccount(MNEMONIC, { addressIndex: 2 })
export const user = mnemonicToAccount(MNEMONIC, { addressIndex: 1 })

/** What an app knows of the contract. */
export const TERMS = {
  chainId: 31337,
  settlement,
  protocolName: 'Service',
  domain: { name: 'Settlement', version: '1', chainId: 31337, verifyingContract: settlement },
  depositProxyCodeHash: `0x${'c0'.repeat(32)}`,
  now: 1_000_000,
} as const

/** The swap that the offers are for. */
export const WANTED: QuoteParams = {
  chainId: TERMS.chainId,
  inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
  outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
  orderType: 'EXACT_INPUT',
  amount: 10n ** 18n,
  user: user.address,
  depositMode: 'CONTRACT',
}

export const QUOTE: SignedQuote['quote'] = {
  solver: solver.address,
  user: user.address,
  inputToken: WANTED.inputToken,
  inputAmount: WANTED.amount,
  outputToken: WANTED.outputToken,
  outputAmount: 2_498_750_000n,
  orderType: 'EXACT_INPUT',
  outputChainId: TERMS.chainId,
  depositDeadline: 1_000_300,
  fillDeadline: 1_000_420,
  nonce: 7n,
}

const hasher = createQuoteHasher('Service', {
  settlement: settlement.toLowerCase() as Hex,
  domainSeparator: domainSeparator({ domain: TERMS.domain }),
  depositProxyCodeHash: TERMS.depositProxyCodeHash,
})

/** The order id and the deposit address, by the service's own hashing. */
export const identify = (quote: SignedQuote['quote'], signature: Hex) =>
  hasher.identify(hasher.hash(quote).structHash, hexToBytes(signature))

/** An offer as the service makes it. */
export async function offerOf(changes: Partial<SignedQuote['quote']> = {}): Promise<SignedQuote> {
  const quote = { ...QUOTE, ...changes }
  const signature = await signQuote(solver, TERMS.domain, toContractQuote(quote))
  return { quote, signature, ...identify(quote, signature) }
}
