import type { Hex } from '../../packages/protocol/src/values/hex.js'

/** Pseudorandom values that are the same in every run. */
export type Random = ReturnType<typeof createRandom>

/** @param seed 32 bits; equal seeds give equal values */
export function createRandom(seed: number) {
  let state = seed

  /** Mulberry32: 32 bits at a time. */
  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }

  const integer = (min: number, max: number): number => min + Math.floor((next() / 2 ** 32) * (max - min + 1))
  const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, () => integer(0, 255))
  const hex = (length: number): Hex => `0x${Buffer.from(bytes(length)).toString('hex')}`
  const pick = <T>(items: readonly [T, ...T[]]): T => items[integer(0, items.length - 1)] ?? items[0]

  return {
    /** From `min` to `max`, both included. */
    integer,
    bytes,
    hex,
    pick,
    /** Of any size up to 256 bits, including small ones. */
    uint256: (): bigint => BigInt(hex(32)) >> BigInt(integer(0, 256)),
    /** Text of up to `maxLength` characters, some of them outside ASCII. */
    text: (maxLength: number): string =>
      Array.from({ length: integer(0, maxLength) }, () =>
        pick(['a', 'Z', '7', ' ', '\n', 'é', '漢', '🙂']),
      ).join(''),
  }
}
