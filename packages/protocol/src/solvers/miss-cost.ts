import { formatUnits } from 'viem'
import { bondFor, USUAL_RESERVATION_BPS } from './solver.js'

const BPS_OF_ALL = 10_000n
/** Of one whole token: a token of which a bond covers less cannot be quoted. */
const LEAST_PART = 1_000n

/**
 * What a miss of one whole token costs its solver, in the bond token's smallest unit. The contract takes a part of the output's smallest
 * units, whatever they are worth.
 */
export function missCost(decimals: number, reservationBps = USUAL_RESERVATION_BPS): bigint {
  return bondFor(10n ** BigInt(decimals), reservationBps)
}

interface NamedToken {
  readonly symbol: string
  readonly decimals: number
}

/** The token of bonds, and the part that a contract reserves; undefined where it has no such view. */
export interface MissTerms extends NamedToken {
  readonly bondReservationBps: bigint | undefined
}

/**
 * Says what a miss of one whole token costs.
 * @param bond in the bond token's smallest unit; undefined when it is not known
 * @returns the cost, and how much a bond covers where that is too little to be quoted
 */
export function describeMiss(
  { symbol, decimals }: NamedToken,
  { bondReservationBps = USUAL_RESERVATION_BPS, ...bondToken }: MissTerms,
  bond: bigint | undefined,
): { readonly cost: string; readonly most: string | undefined } {
  const price = formatUnits(missCost(decimals, bondReservationBps), bondToken.decimals)
  const cost = `a miss of 1 ${symbol} costs ${price} ${bondToken.symbol}`
  const covered = bond === undefined ? undefined : (bond * BPS_OF_ALL) / bondReservationBps
  const isEnough = covered === undefined || covered * LEAST_PART >= 10n ** BigInt(decimals)
  return { cost, most: isEnough ? undefined : `covers ${formatUnits(covered, decimals)} ${symbol}` }
}
