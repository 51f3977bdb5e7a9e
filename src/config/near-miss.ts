import { distance } from 'fastest-levenshtein'

/**
 * Finds the name in a list that is most similar to a name outside it. Letter case, `_` and `-` do not count.
 * @param maxDistance how many letters may be wrong, missing or too many in a name of the list
 * @returns undefined when no name is similar enough
 */
export function nearMiss(
  name: string,
  known: readonly string[],
  maxDistance: (knownName: string) => number,
): string | undefined {
  const near = known
    .map((candidate) => ({ candidate, letters: distance(plain(name), plain(candidate)) }))
    .filter(({ candidate, letters }) => letters <= maxDistance(candidate))
  return near.sort((one, other) => one.letters - other.letters)[0]?.candidate
}

function plain(name: string): string {
  return name.toUpperCase().replace(/[_-]/g, '')
}
