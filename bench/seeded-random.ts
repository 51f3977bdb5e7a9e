import { createRandom } from '../test/support/random.js'

/** Random numbers that are the same for a seed. */
export function seededRandom(seed: number) {
  const bits = createRandom(seed)
  const uniform = () => bits.integer(0, 2 ** 32 - 1) / 2 ** 32
  const logarithm = () => -Math.log(uniform() + Number.EPSILON)
  return {
    uniform,
    normal: () => Math.sqrt(2 * logarithm()) * Math.cos(2 * Math.PI * uniform()),
    exponential: (mean: number) => mean * logarithm(),
    integer: (below: number) => Math.floor(uniform() * below),
  }
}
