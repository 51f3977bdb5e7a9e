import { bytesToHex, type Hex, hexToBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Clock } from '../../../protocol/src/clock.js'
import {
  QUOTE_MEMBERS,
  type Quote,
  quoteTypeName,
  toContractQuote,
} from '../../../protocol/src/quotes/quote.js'
import type { SolverChain } from '../chain/open-chain.js'
import type { SolverAccount } from '../solver-options.js'
import { inTime } from '../waiting.js'

/** Signs quotes for the settlement contracts of chains. */
export type QuoteSigner = Awaited<ReturnType<typeof createQuoteSigner>>

/** All transactions of a chain wait for the one that is signed. */
const SIGNING_MS = 10_000

/**
 * Builds the signer of a solver. With a private key it signs by libsecp256k1, which takes 0.05 ms; by JavaScript, which takes
 * about 1 ms, where the package `secp256k1` is not installed.
 */
export async function createQuoteSigner(given: Hex | SolverAccount, protocolName: string, clock: Clock) {
  const isKey = typeof given === 'string'
  const account = isKey ? privateKeyToAccount(given) : answering(given, clock)
  const library = isKey ? await import('secp256k1').catch(() => undefined) : undefined
  const key = isKey ? hexToBytes(given) : undefined
  const primaryType = quoteTypeName(protocolName)

  async function signatureOf({ domain }: SolverChain, quote: Quote, digest: Uint8Array): Promise<Hex> {
    if (library === undefined || key === undefined)
      return account.signTypedData({
        domain,
        types: { [primaryType]: QUOTE_MEMBERS },
        primaryType,
        message: toContractQuote(quote),
      })
    const { signature, recid } = library.default.ecdsaSign(digest, key)
    return bytesToHex(Buffer.concat([signature, Buffer.of(27 + recid)]))
  }

  /** @returns the quote with what follows from it @throws the errors of the account */
  async function sign(chain: SolverChain, quote: Quote) {
    const { structHash, digest } = chain.hasher.hash(quote)
    const signature = await signatureOf(chain, quote, digest)
    const identity = chain.hasher.identify(structHash, hexToBytes(signature))
    return { chainId: chain.chainId, quote, signature, ...identity }
  }
  return { account, sign }
}

/** An account whose key is elsewhere may leave a request without an answer. That of a quote has a deadline of its own. */
function answering(account: SolverAccount, clock: Clock): SolverAccount {
  const timed = <T>(signing: Promise<T>) => inTime(clock, SIGNING_MS, 'the account', signing)
  return {
    address: account.address,
    signTypedData: (terms) => account.signTypedData(terms),
    signMessage: (message) => timed(account.signMessage(message)),
    signTransaction: (...transaction) => timed(account.signTransaction(...transaction)),
  }
}
