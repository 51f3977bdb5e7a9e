/** What waits. What risks most comes first, so that many small orders cannot make a large one late. */
export interface Urgency {
  /** What is lost when it is late, in units of the bond token. */
  readonly bond: bigint
  /** Unix time in seconds. */
  readonly deadline: number
}

/** Limits how much runs at once. Of those that risk the same, the nearest deadline comes first. */
export function createSlots(limit: number) {
  const waiting: (Urgency & { readonly start: () => void })[] = []
  let used = 0

  /** What has ended leaves its slot to another one. */
  function leave(): void {
    if (used > limit || waiting.length === 0) used--
    else waiting.sort(byUrgency).shift()?.start()
  }

  /** @param mayWait otherwise it runs at once, and counts */
  return async <T>(urgency: Urgency, mayWait: boolean, work: () => Promise<T>): Promise<T> => {
    if (mayWait && used >= limit) await new Promise<void>((start) => waiting.push({ ...urgency, start }))
    else used++
    return work().finally(leave)
  }
}

/** As `sort` takes it. */
export const byUrgency = (one: Urgency, other: Urgency) =>
  Number(other.bond - one.bond) || one.deadline - other.deadline
