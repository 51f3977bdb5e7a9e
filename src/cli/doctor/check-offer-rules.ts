import type { PublicClient } from 'viem'
import { createSettlement } from '../../chain/settlement.js'
import type { ChainConfig } from '../../config.js'
import type { CheckResults } from './check-result.js'

/** Notes which offers the service can hold against the contract: not every deployment has both views. */
export async function checkOfferRules(
  { chainId, settlement, destinationChains }: ChainConfig,
  client: PublicClient,
  checkResults: CheckResults,
): Promise<void> {
  const { bondReservationBps, minOrder } = await createSettlement(client, chainId, settlement).readTerms()
  if (bondReservationBps === undefined) {
    checkResults.warn(
      'bond cover',
      'the contract has no BOND_RESERVATION_BPS: offers are not checked against free bonds',
    )
  } else {
    const percent = Number(bondReservationBps) / 100
    checkResults.ok('bond cover', `an offer may take ${percent} % of its output from the solver's free bond`)
  }
  if (minOrder === undefined) {
    checkResults.warn(
      'least order',
      'the contract has no MIN_ORDER: offers are not checked for the least output',
    )
  } else {
    checkResults.ok('least order', `an output must be at least ${minOrder} of the token's smallest unit`)
  }
  const others = destinationChains.filter((destination) => destination !== chainId)
  if (others.length > 0) {
    const list = `${others.length} beside the chain itself: ${others.join(', ')}`
    checkResults.warn('destinations', `${list}. It cannot be checked that the contract takes quotes for them`)
  }
}
