import { type Hex, hexToBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Clock } from '../../../protocol/src/clock.js'
import {
  QUOTE_MEMBERS,
  type Quote,
  quoteTypeName,
  toContractQuote,
} from '../../../protocol/src/quotes/quote.js'
import type { SolverChain } from '../chain/open-chain.js'
import type { SolverQuote } from '../orders/order-terms.js'
import type { SolverAccount } from '../solver-options.js'
import { inTime } from '../waiting.js'

/** Signs quotes for the settlement contracts of chains. */
export type QuoteSigner = Awaited<ReturnType<typeof createQuoteSigner>>

/** A quote with what follows from it. */
type SignedQuote = Omit<SolverQuote, 'isForAddress' | 'quoteId'>

/** All transactions of a chain wait for the one that is signed. */
const SIGNING_MS = 10_000

/**
 * Builds the signer of a solver. With a private key it signs by libsecp256k1, which takes 0.05 ms; by JavaScript, which takes
 * about 1 ms, where the package `secp256k1` is not installed.
 */
export async function createQuoteSigner(account: Hex | SolverAccount, protocolName: string, clock: Clock) {
  if (typeof account !== 'string') return createAccountSigner(answering(account, clock), protocolName)
  const own = privateKeyToAccount(account)
  const library = await import('secp256k1').catch(() => undefined)
  if (library === undefined) return createAccountSigner(own, protocolName)
  const sign = createKeySigner(hexToBytes(account), library.default.ecdsaSign)
  return { account: own, sign: async (chain: SolverChain, quote: Quote) => sign(chain, quote) }
}

/** Builds a function that signs with a private key (32 bytes). @param ecdsaSign of `secp256k1` */
export function createKeySigner(
  key: Uint8Array,
  ecdsaSign: (digest: Uint8Array, key: Uint8Array) => { signature: Uint8Array; recid: number },
) {
  return (chain: Pick<SolverChain, 'chainId' | 'hasher'>, quote: Quote): SignedQuote => {
    const { structHash, digest } = chain.hasher.hash(quote)
    const { signature, recid } = ecdsaSign(digest, key)
    return complete(chain, quote, structHash, Buffer.concat([signature, Buffer.of(27 + recid)]))
  }
}

/** An account whose key is elsewhere may leave a request without an answer. That of a quote has a deadline of its own. */
function answering(account: SolverAccount, clock: Clock): SolverAccount {
  const inTimeOnly = <T>(signing: Promise<T>) => inTime(clock, SIGNING_MS, 'the account', signing)
  return {
    address: account.address,
    signTypedData: (terms) => account.signTypedData(terms),
    signMessage: (message) => inTimeOnly(account.signMessage(message)),
    signTransaction: (...transaction) => inTimeOnly(account.signTransaction(...transaction)),
  }
}

function createAccountSigner(account: SolverAccount, protocolName: string) {
  const primaryType = quoteTypeName(protocolName)
  return {
    account,
    /** @throws the errors of the account */
    async sign(chain: SolverChain, quote: Quote) {
      const signature = await account.signTypedData({
        domain: chain.domain,
        types: { [primaryType]: QUOTE_MEMBERS },
        primaryType,
        message: toContractQuote(quote),
      })
      return complete(chain, quote, chain.hasher.hash(quote).structHash, hexToBytes(signature))
    },
  }
}

function complete(
  { chainId, hasher }: Pick<SolverChain, 'chainId' | 'hasher'>,
  quote: Quote,
  structHash: Uint8Array,
  bytes: Uint8Array,
): SignedQuote {
  const signature: Hex = `0x${Buffer.from(bytes).toString('hex')}`
  return { chainId, quote, signature, ...hasher.identify(structHash, bytes) }
}
