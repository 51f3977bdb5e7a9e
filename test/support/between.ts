/**
 * Stands for a number of `min` to `max`, both included, in a value that a test expects.
 * @returns typed as the number that it stands for
 */
export function between(min: number, max: number): number {
  const matcher = {
    asymmetricMatch: (value: unknown) => typeof value === 'number' && value >= min && value <= max,
    toString: () => `a number of ${min} to ${max}`,
  }
  return matcher as unknown as number
}
