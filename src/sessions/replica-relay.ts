import type { Clock } from '../clock.js'
import type { ReplicaIdentity } from '../cluster/instance.js'
import { createReplicaClient } from '../cluster/replica-client.js'
import { createReplicaLinks, type ReplicaLinks } from '../cluster/replica-links.js'
import type { SolverDirectory } from '../solvers/registry/solver-directory.js'
import type { SessionTransport } from '../solvers/transport/solver-transports.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { createRemoteSessions, targetOf } from './remote-sessions.js'

/** How this replica asks the solver sessions of others (docs/decisions.md, D18). */
export interface ReplicaRelay {
  readonly sessions: SessionTransport
  countDown: ReplicaLinks['countDown']
  close(): Promise<void>
}

interface RelayOptions {
  readonly replica: ReplicaIdentity
  readonly directory: SolverDirectory
  readonly chainIds: readonly number[]
  readonly metrics: Pick<Metrics, 'replicaRequests'>
  readonly log: Logger
  readonly clock: Clock
}

/** Starts to follow the replicas that hold sessions. */
export function openReplicaRelay({
  replica,
  directory,
  chainIds,
  metrics,
  log,
  clock,
}: RelayOptions): ReplicaRelay {
  const { key } = replica
  const skips = new Map<string, () => void>()
  const links = createReplicaLinks({
    openClient: (target) => createReplicaClient(target, { key, clock }),
    onChange(replicaId, isUp) {
      skips.get(replicaId)?.()
      skips.delete(replicaId)
      if (!isUp) skips.set(replicaId, directory.skipReplica(replicaId))
    },
    log,
    clock,
  })
  const follow = () =>
    links.follow(
      chainIds.flatMap(directory.registered).flatMap(({ remoteSession }) => targetOf(remoteSession) ?? []),
    )
  directory.addListener(follow)
  follow()
  const sessions = createRemoteSessions({
    links,
    onAnswered: (isAnswered) => metrics.replicaRequests.inc({ result: isAnswered ? 'answered' : 'failed' }),
    now: clock.now,
  })
  return { sessions, countDown: links.countDown, close: links.close }
}
