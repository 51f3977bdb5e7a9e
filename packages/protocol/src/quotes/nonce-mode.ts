import { DEPOSIT_MODES, type DepositMode } from './quote.js'

/**
 * The deposit mode that a solver was told stands in the nonce that it signs: in bits 128 to 159 (docs/decisions.md, D32). The user's client
 * compares it with the mode of its own request, so that an instance that lies about it makes an offer that nobody takes.
 */
const MARKS: Readonly<Record<DepositMode, bigint>> = { CONTRACT: 0x7161_0001n, ADDRESS: 0x7161_0002n }
const SHIFT = 128n
const MASK = 0xffff_ffffn

/** The nonce of a quote. @param rest its lower 128 bits */
export function nonceWithMode(mode: DepositMode, rest: bigint): bigint {
  return (MARKS[mode] << SHIFT) | rest
}

/** The mode that the solver of a quote was told. @returns undefined for a nonce that does not say it, as those of other programs */
export function modeOfNonce(nonce: bigint): DepositMode | undefined {
  return DEPOSIT_MODES.find((mode) => MARKS[mode] === ((nonce >> SHIFT) & MASK))
}
