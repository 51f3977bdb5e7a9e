import { findView, readView } from '../node/read-view.js'
import type { Request } from '../node/simulate.js'
import type { Address, Hex } from '../values/hex.js'
import type { Settlement, SettlementTerms, TypedDataDomain } from './settlement.js'
import { settlementOf } from './settlement-of-chain.js'

/** A settlement contract, and the name of its protocol. */
export interface NamedSettlement {
  readonly chainId: number
  /** In any letter case. */
  readonly settlement: Address
  readonly protocolName: string
}

/**
 * Reads what the hashes of quotes depend on. It never changes.
 * @returns the domain with the members that the contract uses, or the usual one of a contract without `eip712Domain()`
 *   (docs/decisions.md, D1)
 * @param contract the functions of the contract; a bundle has no others
 * @throws ChainReadError
 */
export async function readDomain(
  request: Request,
  { chainId, settlement, protocolName }: NamedSettlement,
  contract: Pick<Settlement, 'domain' | 'depositProxyCodeHash'>,
): Promise<{ readonly domain: TypedDataDomain; readonly depositProxyCodeHash: Hex }> {
  const usual = { name: protocolName, version: '1', chainId, verifyingContract: settlement }
  const [domain = usual, depositProxyCodeHash] = await Promise.all([
    findView(request, settlement, contract.domain()),
    readView(request, settlement, contract.depositProxyCodeHash()),
  ])
  return { domain, depositProxyCodeHash }
}

/** Reads what the contract requires of every order. @throws ChainReadError */
export async function readTerms(
  request: Request,
  { chainId, settlement }: Omit<NamedSettlement, 'protocolName'>,
): Promise<SettlementTerms> {
  const contract = settlementOf(chainId)
  const [bondReservationBps, minOrder] = await Promise.all([
    findView(request, settlement, contract.bondReservationBps()),
    findView(request, settlement, contract.minOrder()),
  ])
  return { bondReservationBps, minOrder }
}
