import type { TypedDataDomain } from '../../packages/protocol/src/settlement.js'
import { checkOffer } from '../domain/quotes/offer.js'
import { QUOTE_MEMBERS, type Quote, type QuoteRequest, toContractQuote } from '../domain/quotes/quote.js'
import type { Address, Hex } from '../domain/values/hex.js'
import { toChecksumAddress } from '../signing/checksum.js'
import { recoverAddress } from '../signing/signatures.js'
import { keccak256 } from '../signing/typed-data.js'
import type { SignatureDetails } from './report.js'
import { hasherUnder, type SigningTerms } from './signing-terms.js'

/**
 * Describes a reply whose signature was dropped.
 * @param reply the parsed JSON, which matches the request but for its signature
 */
export function describeSignature(
  terms: SigningTerms,
  request: QuoteRequest,
  solver: Address,
  reply: unknown,
): SignatureDetails | undefined {
  const offer = checkOffer(request, solver, reply)
  if (typeof offer === 'string') return undefined
  const { quote } = offer
  const signature = Buffer.from(offer.signature.slice(2), 'hex')
  const { structHash, digest } = terms.hasher.hash(quote)
  const { domain, primaryType } = terms.typedData
  const recovered = recoverAddress(digest, signature)
  return {
    expectedSigner: toChecksumAddress(solver),
    recoveredSigner: recovered && toChecksumAddress(recovered),
    digest: toHex(digest),
    structHash: toHex(structHash),
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
function findMistake(terms: SigningTerms, quote: Quote, signature: Uint8Array): string | undefined {
  const { structHash, digest } = terms.hasher.hash(quote)
  const isBy = (hashed: Uint8Array) => recoverAddress(hashed, signature) === quote.solver
  if (isBy(digest)) return undefined
  if (isBy(structHash)) return 'The struct was signed without the domain.'
  const personal = Buffer.from('\x19Ethereum Signed Message:\n32')
  if (isBy(keccak256(Buffer.concat([personal, digest]))))
    return 'The digest was signed as a personal message (EIP-191): sign it without a prefix.'
  const otherDomain = domainsNear(terms).find(({ domain }) =>
    isBy(digestUnder(terms, terms.typedData.primaryType, domain, quote)),
  )
  if (otherDomain !== undefined) return `The quote was signed ${otherDomain.mistake}.`
  const otherType = ['Quote', 'ServiceQuote', 'SettlementQuote'].find((name) =>
    isBy(digestUnder(terms, name, terms.typedData.domain, quote)),
  )
  return otherType && `The quote was signed as ${otherType}, and not as ${terms.typedData.primaryType}.`
}

/** Domains with one usual mistake each. */
function domainsNear({ typedData }: SigningTerms): { domain: TypedDataDomain; mistake: string }[] {
  const { domain, primaryType } = typedData
  const protocolName = primaryType.replace(/Quote$/, '')
  const names = [protocolName, 'Service', 'Settlement', primaryType, ''].map((name) => ({ name }))
  const versions = ['1', '2', '1.0', '1.0.0', '0', ''].map((version) => ({ version }))
  const chains = [1, 31337, 1337].map((id) => ({ chainId: id }))
  const changed = [...names, ...versions, ...chains].map((change) => ({
    domain: { ...domain, ...change },
    mistake: `with ${Object.entries(change).map(([name, value]) => `the domain's ${name} ${JSON.stringify(value)}`)}`,
  }))
  const without = (['name', 'version', 'chainId', 'verifyingContract'] as const).map((member) => {
    const { [member]: _, ...rest } = domain
    return { domain: rest, mistake: `without the domain's ${member}` }
  })
  return [...changed, ...without]
}

function digestUnder(
  { settlement }: SigningTerms,
  primaryType: string,
  domain: TypedDataDomain,
  quote: Quote,
): Uint8Array {
  return hasherUnder(primaryType.replace(/Quote$/, ''), settlement, domain).hash(quote).digest
}

function toHex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`
}
