import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { reasonOf } from '../domain/errors.js'
import type { Logger } from '../telemetry/log.js'
import type { ReplicaClient, ReplicaTarget } from './replica-client.js'
import type { ReplicaRequest } from './replica-connection.js'

/** The ways from this replica to others. Each is checked all the time, so that no request waits for a replica that is gone. */
export interface ReplicaLinks {
  /** Checks these replicas from now on, and of the others those with requests under way. Does nothing after `close`. */
  follow(targets: readonly ReplicaTarget[]): void
  /**
   * Sends a request as `ReplicaClient.send` does. It fails at once while the replica does not answer checks, and as soon as
   * it stops to answer them. A replica that is not followed is asked without checks: its last session may still wait for results.
   */
  send(target: ReplicaTarget, request: ReplicaRequest): Promise<void>
  /** The number of followed replicas that do not answer. */
  countDown(): number
  /** Ends all checks and requests. */
  close(): Promise<void>
}

interface ReplicaLinksOptions {
  readonly client: ReplicaClient
  /** For the checks: they must not wait for requests on the same connection. */
  readonly checkClient: ReplicaClient
  /** Called when a replica stops to answer this one, and when it answers again or is no longer followed. */
  readonly onChange: (replicaId: string, isUp: boolean) => void
  readonly log: Logger
}

/** A link, while its replica is followed or has requests under way. */
interface Link {
  readonly target: ReplicaTarget
  isFollowed: boolean
  /** Number of requests under way. */
  requests: number
  /** Aborted at the end of the link. */
  readonly closing: AbortController
  /** Aborted when the replica stops to answer; another one replaces it when it answers again. */
  up: AbortController
}

const CHECK_INTERVAL_MS = 500
/** A check that takes longer has failed. A healthy replica may pause for some time to collect garbage. */
const CHECK_TIMEOUT_MS = 1000

/** Builds the links, without any at first. A replica counts as up until a check fails. */
export function createReplicaLinks({
  client,
  checkClient,
  onChange,
  log,
}: ReplicaLinksOptions): ReplicaLinks {
  const links = new Map<string, Link>()
  const watching = new Set<Promise<void>>()
  /** Aborted at the end of all links. */
  const closing = openController()

  function noteUp(link: Link): void {
    if (!link.up.signal.aborted || !link.isFollowed) return
    link.up = openController()
    log.info(link.target, 'a replica answers again: its solver sessions are asked')
    onChange(link.target.replicaId, true)
  }

  function noteDown(link: Link, error: unknown): void {
    if (link.up.signal.aborted || link.closing.signal.aborted) return
    link.up.abort(error)
    // It may stay silent when the replica answers again: after an outage, TCP itself tries again much later.
    client.disconnect(link.target)
    if (!link.isFollowed) return
    log.warn(
      { ...link.target, reason: reasonOf(error) },
      'a replica does not answer: its solver sessions are not asked here',
    )
    onChange(link.target.replicaId, false)
  }

  async function check({ target, closing }: Link): Promise<void> {
    const id = randomUUID()
    const body = JSON.stringify({ type: 'ping', id })
    let answer = ''
    const onLine = (line: string) => {
      answer = line
    }
    await checkClient.send(target, { body, timeoutMs: CHECK_TIMEOUT_MS, onLine }, closing.signal)
    if (answer !== id) throw new Error('another server answers there')
  }

  async function watch(link: Link): Promise<void> {
    const { signal } = link.closing
    while (!signal.aborted) {
      await check(link).then(
        () => noteUp(link),
        (error) => noteDown(link, error),
      )
      await delay(CHECK_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  function open(target: ReplicaTarget): void {
    const [closing, up] = [new AbortController(), openController()]
    const link: Link = { target, isFollowed: true, requests: 0, closing, up }
    links.set(target.replicaId, link)
    const watched = watch(link).finally(() => watching.delete(watched))
    watching.add(watched)
  }

  /** Ends the checks after the last request: a session that has moved still answers what it was asked. */
  function leave(link: Link): void {
    links.delete(link.target.replicaId)
    link.isFollowed = false
    if (link.up.signal.aborted) onChange(link.target.replicaId, true)
    endWhenIdle(link)
  }

  function endWhenIdle(link: Link): void {
    if (!link.isFollowed && link.requests === 0) link.closing.abort()
  }

  return {
    follow(targets) {
      if (closing.signal.aborted) return
      const wanted = new Map(targets.map((target) => [target.replicaId, target]))
      for (const link of [...links.values()])
        if (wanted.get(link.target.replicaId)?.url !== link.target.url) leave(link)
      for (const target of wanted.values()) if (!links.has(target.replicaId)) open(target)
    },
    async send(target, request) {
      const link = links.get(target.replicaId)
      if (link === undefined) return client.send(target, request, closing.signal)
      link.up.signal.throwIfAborted()
      link.requests++
      try {
        await client.send(target, request, link.up.signal)
      } finally {
        link.requests--
        endWhenIdle(link)
      }
    },
    countDown: () => [...links.values()].filter(({ up }) => up.signal.aborted).length,
    async close() {
      closing.abort()
      for (const link of [...links.values()]) leave(link)
      client.close()
      checkClient.close()
      await Promise.all(watching)
    },
  }
}

/** Each request adds a listener. Node warns of a leak when there are more than ten. */
function openController(): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}
