import type { Address, Hex } from '../../../src/domain/hex.js'

/** The members of an EIP-712 domain. */
export interface TypedDataDomain {
  readonly name?: string | undefined
  readonly version?: string | undefined
  readonly chainId?: number | bigint | undefined
  readonly verifyingContract?: Address | undefined
  readonly salt?: Hex | undefined
}

/** The answer of a contract's `eip712Domain()` (ERC-5267), with all members. */
export type DomainAnswer = readonly [
  fields: Hex,
  name: string,
  version: string,
  chainId: bigint,
  verifyingContract: Address,
  salt: Hex,
  extensions: readonly bigint[],
]

/** The members that the contract uses: bit n of `fields` stands for member n (ERC-5267). */
export function usedMembers(answer: DomainAnswer): TypedDataDomain {
  const [fields, name, version, chainId, verifyingContract, salt] = answer
  const members = Object.entries({ name, version, chainId, verifyingContract, salt })
  return Object.fromEntries(members.filter((_, index) => Number(fields) & (1 << index)))
}
