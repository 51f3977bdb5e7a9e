import type { MessageInitShape } from '@bufbuild/protobuf'
import type { Eip712DomainSchema, TokenSchema } from '../../../gen/aggregator/v1/chain_pb.js'
import type { TypedDataDomain } from '../../../packages/protocol/src/typed-data-domain.js'
import type { BondToken } from '../../chain/contract/bond-token.js'
import { DOMAIN_TEXT, MAX_INTEGER } from '../../domain/field-rules.js'
import { lowerCase } from '../../domain/values/hex.js'
import { toCachedChecksumAddress } from '../../signing/checksum.js'

/** A block number or an age of a message. A node can answer anything, and one chain must not make the whole response fail. */
export function toUint64(number: number | undefined): bigint | undefined {
  const isValid = number !== undefined && Number.isSafeInteger(number) && number >= 0
  return isValid ? BigInt(number) : undefined
}

/**
 * The message of an EIP-712 domain.
 * @returns undefined when the message cannot carry the whole domain, because a part of it would be another domain
 */
export function toDomainMessage(
  domain: TypedDataDomain,
): MessageInitShape<typeof Eip712DomainSchema> | undefined {
  const { name, version, chainId, verifyingContract, salt } = domain
  const isLong = [name, version].some((text = '') => text.length > DOMAIN_TEXT.maxLength)
  if (isLong || (chainId ?? 0) > MAX_INTEGER) return undefined
  return {
    name,
    version,
    chainId: chainId === undefined ? undefined : BigInt(chainId),
    verifyingContract: verifyingContract && toCachedChecksumAddress(lowerCase(verifyingContract)),
    salt,
  }
}

/** The message of a token. */
export function toTokenMessage({
  address,
  symbol,
  decimals,
}: BondToken): MessageInitShape<typeof TokenSchema> {
  return { address: toCachedChecksumAddress(address), symbol, decimals }
}
