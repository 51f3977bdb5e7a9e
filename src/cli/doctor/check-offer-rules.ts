import type { PublicClient } from 'viem'
import { readTerms } from '../../../packages/protocol/src/read-settlement.js'
import type { ChainConfig } from '../../config/config.js'
import type { CheckResults } from './check-result.js'

/** Reports which rules of the contract the service checks offers against. Not every deployment has both views. */
export async function checkOfferRules(
  { chainId, settlement, destinationChains }: ChainConfig,
  { request }: PublicClient,
  checkResults: CheckResults,
): Promise<void> {
  const { bondReservationBps, minOrder } = await readTerms(request, { chainId, settlement })
  if (bondReservationBps === undefined) {
    checkResults.warn(
      'bond cover',
      'the contract has no BOND_RESERVATION_BPS: offers are not checked against free bonds',
    )
  } else {
    const percent = Number(bondReservationBps) / 100
    checkResults.ok(
      'bond cover',
      `an offer reserves ${percent} % of its output, which the solver's free bond must cover`,
    )
  }
  if (minOrder === undefined) {
    checkResults.warn(
      'minimum order',
      'the contract has no MIN_ORDER: offers are not checked against a minimum output',
    )
  } else {
    checkResults.ok('minimum order', `an output must be at least ${minOrder} of the token's smallest unit`)
  }
  const others = destinationChains.filter((destination) => destination !== chainId)
  if (others.length > 0) {
    const list = `${others.length} in addition to the chain itself: ${others.join(', ')}`
    checkResults.warn(
      'destinations',
      `${list}. The service cannot check that the contract accepts quotes for them`,
    )
  }
}
