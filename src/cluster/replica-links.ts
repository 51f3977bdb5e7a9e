import type { Clock } from '../../packages/protocol/src/clock.js'
import { reasonOf } from '../../packages/protocol/src/errors.js'
import type { Logger } from '../telemetry/log.js'
import type { ReplicaClient, ReplicaRequest, ReplicaTarget } from './replica-client.js'

/** The ways from this replica to others. Each is checked all the time, so that no request waits for a replica that is gone. */
export type ReplicaLinks = ReturnType<typeof createReplicaLinks>

/** A link, while its replica is followed or has requests under way. */
interface Link {
  readonly target: ReplicaTarget
  isFollowed: boolean
  isUp: boolean
  /** Number of requests under way. */
  requests: number
  /** Another one replaces it after a check that failed. */
  client: ReplicaClient
  /** Aborted at the end of the link. */
  readonly closing: AbortController
}

const CHECK_INTERVAL_MS = 500
/** A check that takes longer has failed. A healthy replica may pause for some time to collect garbage. */
const CHECK_TIMEOUT_MS = 1000

/**
 * Builds the links, without any at first. A replica counts as up until a check fails.
 * @param onChange called when a replica stops to answer this one, and when it answers again or is no longer followed
 */
export function createReplicaLinks(
  openClient: (target: ReplicaTarget) => ReplicaClient,
  onChange: (replicaId: string, isUp: boolean) => void,
  log: Logger,
  clock: Clock,
) {
  /** Those of followed replicas, by id. */
  const links = new Map<string, Link>()
  /** All links, and the end of the checks of each. */
  const watched = new Map<Link, Promise<void>>()
  let isClosed = false

  function noteUp(link: Link): void {
    if (link.isUp || !link.isFollowed) return
    link.isUp = true
    log.info(link.target, 'a replica answers again: its solver sessions are asked')
    onChange(link.target.replicaId, true)
  }

  function noteDown(link: Link, error: Error): void {
    if (link.closing.signal.aborted) return
    // Its connections may stay silent when the replica answers again: after an outage, TCP itself tries again much later.
    link.client.close(error)
    link.client = openClient(link.target)
    if (!link.isUp) return
    link.isUp = false
    if (!link.isFollowed) return
    log.warn(
      { ...link.target, reason: reasonOf(error) },
      'a replica does not answer: its solver sessions are not asked here',
    )
    onChange(link.target.replicaId, false)
  }

  async function watch(link: Link): Promise<void> {
    const { signal } = link.closing
    while (!signal.aborted) {
      await link.client.check(CHECK_TIMEOUT_MS).then(
        () => noteUp(link),
        (error) => noteDown(link, error),
      )
      await clock.sleep(CHECK_INTERVAL_MS, signal).catch(() => {})
    }
  }

  function open(target: ReplicaTarget, isFollowed: boolean): Link {
    const client = openClient(target)
    const link: Link = { target, isFollowed, isUp: true, requests: 0, client, closing: new AbortController() }
    watched.set(
      link,
      watch(link).finally(() => watched.delete(link)),
    )
    return link
  }

  /** Ends the checks after the last request: a session that has moved still answers what it was asked. */
  function leave(link: Link): void {
    links.delete(link.target.replicaId)
    link.isFollowed = false
    if (!link.isUp) onChange(link.target.replicaId, true)
    if (link.requests === 0) end(link)
  }

  function end({ closing, client }: Link): void {
    const error = new Error('the way to the replica has ended')
    closing.abort(error)
    client.close(error)
  }

  return {
    /** Checks these replicas from now on, and of the others those with requests under way. Does nothing after `close`. */
    follow(targets: readonly ReplicaTarget[]): void {
      if (isClosed) return
      const wanted = new Map(targets.map((target) => [target.replicaId, target]))
      for (const link of [...links.values()])
        if (wanted.get(link.target.replicaId)?.url !== link.target.url) leave(link)
      for (const [id, target] of wanted) if (!links.has(id)) links.set(id, open(target, true))
    },
    /**
     * Sends a request as `ReplicaClient.send` does. It fails at once while the replica does not answer checks, and as soon as
     * it stops to answer them. A replica that is not followed is checked during the request: its last session may still wait
     * for results.
     */
    async send(target: ReplicaTarget, request: ReplicaRequest): Promise<void> {
      if (isClosed) throw new Error('this replica ends')
      const link = links.get(target.replicaId) ?? open(target, false)
      if (!link.isUp) throw new Error('the replica does not answer')
      link.requests++
      try {
        await link.client.send(request)
      } finally {
        link.requests--
        if (!link.isFollowed && link.requests === 0) end(link)
      }
    },
    /** The number of followed replicas that do not answer. */
    countDown: (): number => [...links.values()].filter(({ isUp }) => !isUp).length,
    /** Ends all checks and requests. */
    async close(): Promise<void> {
      isClosed = true
      for (const link of watched.keys()) end(link)
      await Promise.all(watched.values())
    },
  }
}
