const DECIMAL = /^[1-9][0-9]{0,15}$/

/**
 * Reads an EIP-155 chain id: a decimal integer of 1 to 2^53-1 without sign, exponent or leading zeros, so that it
 * is the same number in every JSON reader (docs/decisions.md, D7).
 * @returns the chain id, or undefined when `text` is none
 */
export function parseChainId(text: string): number | undefined {
  if (!DECIMAL.test(text)) return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : undefined
}
