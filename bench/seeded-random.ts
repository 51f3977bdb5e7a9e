/** Random numbers that are the same for a seed: a generator of Mulberry's kind, 32 bits. */
export function seededRandom(seed: number) {
  let state = seed >>> 0
  function uniform(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const logarithm = () => -Math.log(uniform() + Number.EPSILON)
  return {
    uniform,
    normal: () => Math.sqrt(2 * logarithm()) * Math.cos(2 * Math.PI * uniform()),
    exponential: (mean: number) => mean * logarithm(),
    integer: (below: number) => Math.floor(uniform() * below),
  }
}
