import type { Address, Hex } from '../../../src/domain/values/hex.js'

/** The members of an EIP-712 domain. */
export interface TypedDataDomain {
  readonly name?: string | undefined
  readonly version?: string | undefined
  readonly chainId?: number | bigint | undefined
  readonly verifyingContract?: Address | undefined
  readonly salt?: Hex | undefined
}
