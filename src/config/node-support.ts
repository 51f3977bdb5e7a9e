/** The last days of security updates of the supported versions of Node, by major version (nodejs.org/en/about/previous-releases). */
const LAST_UPDATES: Readonly<Record<string, string>> = {
  20: '2026-04-30',
  22: '2027-04-30',
  24: '2028-04-30',
}
const DAY_MS = 86_400_000

/**
 * Says that a Node gets no security updates any more.
 * @param version such as `20.19.0`
 * @param now Unix time in milliseconds
 * @returns undefined while it gets them, and for a version that is not in the list
 */
export function describeOldNode(version: string, now: number): string | undefined {
  const lastDay = LAST_UPDATES[version.split('.')[0] ?? '']
  if (lastDay === undefined || now < Date.parse(lastDay) + DAY_MS) return undefined
  return `Node ${version} has had no security updates since ${lastDay}: use a newer one`
}
