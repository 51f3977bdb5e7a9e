import type { SolverRecord } from './solver-record.js'

/** Who is asked for one quote. */
export interface Picked {
  readonly awaited: readonly SolverRecord[]
  /** Asked only to learn whether they answer again. */
  readonly probed: readonly SolverRecord[]
}

/** Chooses whom to ask. */
export interface Selection {
  /**
   * @param records of the active solvers of a chain
   * @param limit how many are waited for at most
   * @param now on the records' clock
   */
  pick(chainId: number, records: readonly SolverRecord[], limit: number, now: number): Picked
}

/** One place in so many is for those who answer badly, as long as there are others. */
const PLACES_TO_A_WEAK_ONE = 5

/** Whose turn it is on one chain. */
interface Turns {
  sound: number
  weak: number
  /** Places given so far. */
  places: number
}

/**
 * Builds a selection in turns (decisions.md D4). When there are more solvers than places, four places in five go to
 * those who answer well and one to those who do not, and in both groups each quote goes on behind the last solver that
 * the one before asked: among n that answer well, each is asked in `limit` of n quotes. Places that one group cannot
 * fill are the other's. With everybody on the bench, those whose term is over and the least bad of the rest are asked.
 */
export function createSelection(): Selection {
  const turns = new Map<number, Turns>()

  function turnsOf(chainId: number): Turns {
    const known = turns.get(chainId) ?? { sound: 0, weak: 0, places: 0 }
    turns.set(chainId, known)
    return known
  }

  function share(
    chainId: number,
    sound: readonly SolverRecord[],
    weak: readonly SolverRecord[],
    limit: number,
  ) {
    const turn = turnsOf(chainId)
    const placesBefore = Math.floor(turn.places / PLACES_TO_A_WEAK_ONE)
    turn.places += limit
    const weakPlaces = Math.floor(turn.places / PLACES_TO_A_WEAK_ONE) - placesBefore
    const soundPlaces = Math.min(sound.length, Math.max(limit - weakPlaces, limit - weak.length))
    const awaited = [
      ...takeFrom(sound, turn.sound, soundPlaces),
      ...takeFrom(weak, turn.weak, limit - soundPlaces),
    ]
    turn.sound += soundPlaces
    turn.weak += limit - soundPlaces
    return awaited
  }

  return {
    pick(chainId, records, limit, now) {
      const sound: SolverRecord[] = []
      const weak: SolverRecord[] = []
      const others: SolverRecord[] = []
      for (const record of records) {
        const standing = record.standing(now)
        if (standing === 'sound') sound.push(record)
        else if (standing === 'weak') weak.push(record)
        else others.push(record)
      }
      const probed = others.filter((record) => record.isProbeDue(now))
      if (sound.length === 0 && weak.every(({ isBenched }) => isBenched)) {
        const awaited = weak.concat(leastBad(others)).slice(0, limit)
        return { awaited, probed: probed.filter((record) => !awaited.includes(record)) }
      }
      if (sound.length + weak.length <= limit) return { awaited: sound.concat(weak), probed }
      return { awaited: share(chainId, sound, weak, limit), probed }
    },
  }
}

function leastBad(records: readonly SolverRecord[]): readonly SolverRecord[] {
  const least = Math.min(...records.map(({ badness }) => badness))
  return records.filter(({ badness }) => badness === least)
}

function takeFrom(records: readonly SolverRecord[], turn: number, count: number): readonly SolverRecord[] {
  if (records.length === 0) return []
  const start = turn % records.length
  const taken = records.slice(start, start + count)
  return taken.concat(records.slice(0, count - taken.length))
}
