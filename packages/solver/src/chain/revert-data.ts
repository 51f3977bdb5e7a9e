import { BaseError, type Hex } from 'viem'

/** `Panic(uint256)`, and its code of an overflow. */
const PANIC = '0x4e487b71'
const OVERFLOW = '11'

/** What a contract has reverted with; undefined for another error, and for a revert without data. */
export function revertData(error: unknown): Hex | undefined {
  if (!(error instanceof BaseError)) return undefined
  let found: Hex | undefined
  error.walk((cause) => {
    const { data } = cause as { data?: unknown }
    const text = typeof data === 'object' && data !== null ? (data as { data?: unknown }).data : data
    if (typeof text === 'string' && /^0x[0-9a-f]{8}/i.test(text)) found = text.toLowerCase() as Hex
    return false
  })
  return found
}

/** Whether a contract has reverted, with data or without. Nodes report a revert without data by its words. */
export function isRevert(error: unknown): boolean {
  return revertData(error) !== undefined || /revert/i.test(String((error as Error).message))
}

/** Whether a contract has subtracted more than there was (Panic 17). */
export function isOverflow(error: unknown): boolean {
  const data = revertData(error)
  return data?.startsWith(PANIC) === true && data.endsWith(OVERFLOW)
}
