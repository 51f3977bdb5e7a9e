import type { Clock } from '../../../packages/protocol/src/clock.js'
import { reasonOf } from '../../../packages/protocol/src/errors.js'
import { createRetry } from '../../concurrency/retry.js'
import type { Logger } from '../../telemetry/log.js'
import type { ReplicaLease } from './replica-lease.js'

/** Time after which a replica that has not renewed its lease counts as gone. */
export const LEASE_MS = 10_000

/** Renewals in the time of a lease. */
const RENEWALS = 5
/** Attempts in the time of a lease, while renewals fail. */
const ATTEMPTS = 20

/**
 * Takes the lease of this replica, and renews it from then on. After each renewal, it ends the sessions of replicas whose
 * lease has expired (docs/decisions.md, D18).
 * @returns a function that ends the lease. An unreachable database keeps it until it expires
 * @throws the error of the database when the lease cannot be taken
 */
export async function startLeaseRenewal(
  lease: ReplicaLease,
  leaseMs: number,
  clock: Clock,
  log: Logger,
): Promise<() => Promise<void>> {
  await lease.renew()
  const renewal = createRetry({
    async work() {
      await lease.renew()
      const sessions = await lease.releaseExpired()
      if (sessions > 0) log.warn({ sessions }, 'the solver sessions of a replica that is gone have ended')
    },
    delayMs: leaseMs / ATTEMPTS,
    onFailure: (error) =>
      log.warn({ reason: reasonOf(error) }, 'the lease of this replica could not be renewed'),
    onRecovery: () => log.info('the lease of this replica is renewed again'),
    clock,
  })
  const timer = clock.setInterval(renewal.run, leaseMs / RENEWALS)
  return async () => {
    timer.stop()
    await renewal.close()
    await lease.giveUp().catch(() => {})
  }
}
