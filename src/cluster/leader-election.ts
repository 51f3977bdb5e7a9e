import type { Clock, Timer } from '../../packages/protocol/src/clock.js'
import { lockKey } from '../store/postgres/postgres.js'
import type { LeadershipListener } from './cluster.js'
import type { DedicatedConnection } from './dedicated-connection.js'

/** Interval of the attempts. They are also the heartbeat of the connection, so they never stop. */
const ATTEMPT_INTERVAL_MS = 1000
/** Tries to lock each leadership. A lock is held until the end of the connection. */
const TRY_LOCKS = `select name, pg_catalog.pg_try_advisory_lock(${lockKey('name')}) as is_won
  from pg_catalog.unnest($1::text[]) as name`

/** One leadership on this replica. */
interface Candidacy {
  readonly listener: LeadershipListener
  isLeader: boolean
}

/**
 * Builds the election of leaders by session locks of PostgreSQL, over a connection. A leader has its lock until the end of its connection.
 */
export function createLeaderElection(connection: DedicatedConnection, clock: Clock) {
  const candidacies = new Map<string, Candidacy>()
  let timer: Timer | undefined

  async function tryNow(): Promise<void> {
    const wanted = [...candidacies].filter(([, { isLeader }]) => !isLeader).map(([name]) => name)
    for (const { name, is_won } of await connection.query(TRY_LOCKS, [wanted])) {
      const candidacy = candidacies.get(name)
      if (!is_won || candidacy === undefined || candidacy.isLeader) continue
      candidacy.isLeader = true
      candidacy.listener.onAcquired()
    }
  }

  return {
    async acquire(name: string, listener: LeadershipListener): Promise<void> {
      candidacies.set(name, { listener, isLeader: false })
      await tryNow()
    },
    /** Tries to acquire each leadership that this replica does not have. */
    tryNow,
    /** Begins the attempts every second, on a connection that is up. */
    start(): void {
      timer = clock.setInterval(() => void tryNow(), ATTEMPT_INTERVAL_MS)
    },
    /** Ends all leaderships, because the connection with the locks is lost. */
    stepDown(): void {
      for (const candidacy of candidacies.values()) {
        if (!candidacy.isLeader) continue
        candidacy.isLeader = false
        candidacy.listener.onLost()
      }
    },
    /** Makes no further attempts. The locks stay until the end of the connection. */
    close: (): void => timer?.stop(),
  }
}
