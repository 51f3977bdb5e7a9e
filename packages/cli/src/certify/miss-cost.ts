import type { PublicClient } from 'viem'
import { readBondToken } from '../../../chain/src/contract/read-bond-token.js'
import type { ContractPlace } from '../../../chain/src/contract/verify-contract.js'
import { describeMiss, type MissTerms } from '../../../protocol/src/solvers/miss-cost.js'
import type { Address } from '../../../protocol/src/values/hex.js'
import { type Finding, pass, warn } from './report.js'

/** What is known of the contract's bonds. */
interface KnownTerms {
  readonly bondReservationBps: MissTerms['bondReservationBps']
  /** Of the solver; undefined for one that has none yet. */
  readonly freeBond: bigint | undefined
}

/** Says what a miss of one whole output token costs, and whether the free bond covers a part of one. */
export async function readMissCost(
  client: PublicClient,
  place: ContractPlace,
  token: Address,
  { bondReservationBps, freeBond }: KnownTerms,
): Promise<Finding> {
  const { readToken } = await import('@quote-aggregator/client')
  try {
    const [bond, { decimals, symbol = 'of the output token' }] = await Promise.all([
      readBondToken(client, place),
      readToken(client, token),
    ])
    const miss = describeMiss({ decimals, symbol }, { ...bond, bondReservationBps }, freeBond)
    return miss.most === undefined
      ? pass(`${miss.cost}.`)
      : warn(`${miss.cost}. Your free bond ${miss.most}.`)
  } catch {
    return warn('The bond token or the output token could not be read: has each symbol and decimals?')
  }
}
