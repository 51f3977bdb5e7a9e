import { bytesToHex, hashMessage, hashTypedData, hexToBytes } from 'viem'
import { checkOffer } from '../../../protocol/src/quotes/offer.js'
import {
  QUOTE_MEMBERS,
  type Quote,
  type QuoteRequest,
  toContractQuote,
} from '../../../protocol/src/quotes/quote.js'
import type { TypedDataDomain } from '../../../protocol/src/settlement/settlement.js'
import { recoverAddress } from '../../../protocol/src/signing/signatures.js'
import { toChecksumAddress } from '../../../protocol/src/signing/typed-data.js'
import type { Address } from '../../../protocol/src/values/hex.js'
import type { SignatureDetails } from './report.js'
import type { SigningTerms } from './signing-terms.js'

type Signed = Pick<SigningTerms, 'hasher' | 'typedData'>

/**
 * Describes a reply whose signature was dropped.
 * @param reply the parsed JSON, which matches the request but for its signature
 */
export function describeSignature(
  terms: Signed,
  request: QuoteRequest,
  solver: Address,
  reply: unknown,
): SignatureDetails | undefined {
  const offer = checkOffer(request, solver, reply)
  if (typeof offer === 'string') return undefined
  const { quote } = offer
  const signature = hexToBytes(offer.signature)
  const { structHash, digest } = terms.hasher.hash(quote)
  const { domain, primaryType } = terms.typedData
  const recovered = recoverAddress(digest, signature)
  return {
    expectedSigner: toChecksumAddress(solver),
    recoveredSigner: recovered && toChecksumAddress(recovered),
    digest: bytesToHex(digest),
    structHash: bytesToHex(structHash),
    domain,
    primaryType,
    types: QUOTE_MEMBERS,
    message: messageOf(quote),
    likelyMistake: findMistake(terms, quote, signature),
  }
}

function messageOf(quote: Quote): Record<string, string> {
  const values = toContractQuote(quote)
  return Object.fromEntries(
    QUOTE_MEMBERS.map(({ name, type }) => {
      const value = String(values[name])
      return [name, type === 'address' ? toChecksumAddress(value as Address) : value]
    }),
  )
}

/** The first mistake of a list with which the signature would be the solver's. */
function findMistake(terms: Signed, quote: Quote, signature: Uint8Array): string | undefined {
  const { domain, primaryType } = terms.typedData
  const { structHash, digest } = terms.hasher.hash(quote)
  const isBy = (hashed: Uint8Array) => recoverAddress(hashed, signature) === quote.solver
  if (isBy(digest)) return undefined
  if (isBy(structHash)) return 'The struct was signed without the domain.'
  if (isBy(hashMessage({ raw: digest }, 'bytes')))
    return 'The digest was signed as a personal message (EIP-191): sign it without a prefix.'
  for (const [member, value] of domainMistakes(primaryType)) {
    if (!isBy(digestUnder(primaryType, { ...domain, [member]: value }, quote))) continue
    const named = `the domain's ${member}`
    if (value === undefined) return `The quote was signed without ${named}.`
    return `The quote was signed with ${named} ${JSON.stringify(value)}.`
  }
  const otherType = ['Quote', 'ServiceQuote', 'SettlementQuote'].find((name) =>
    isBy(digestUnder(name, domain, quote)),
  )
  return otherType && `The quote was signed as ${otherType}, and not as ${primaryType}.`
}

/** Members of the domain with usual wrong values; undefined for a domain without the member. */
function domainMistakes(primaryType: string): (readonly [keyof TypedDataDomain, unknown])[] {
  const usual = {
    name: [primaryType.replace(/Quote$/, ''), 'Service', 'Settlement', primaryType, '', undefined],
    version: ['1', '2', '1.0', '1.0.0', '0', '', undefined],
    chainId: [1, 31337, 1337, undefined],
    verifyingContract: [undefined],
  }
  return Object.entries(usual).flatMap(([member, values]) =>
    values.map((value) => [member as keyof TypedDataDomain, value] as const),
  )
}

function digestUnder(primaryType: string, domain: TypedDataDomain, quote: Quote): Uint8Array {
  const message = toContractQuote(quote) as unknown as Record<string, unknown>
  const digest = hashTypedData({ domain, types: { [primaryType]: QUOTE_MEMBERS }, primaryType, message })
  return hexToBytes(digest)
}
