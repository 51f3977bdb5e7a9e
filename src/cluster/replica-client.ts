import {
  openReplicaConnection,
  type ReplicaConnection,
  type ReplicaRequest,
  type SignText,
} from './replica-connection.js'
import { signReplicaText } from './replica-signature.js'

/** Another replica of the instance, and where it is asked. */
export interface ReplicaTarget {
  /** A UUID. */
  readonly replicaId: string
  /** An origin: its REPLICA_URL. */
  readonly url: string
}

/** Sends signed requests to other replicas, over one WebSocket to each (docs/decisions.md, D18). */
export interface ReplicaClient {
  /** Sends a request as `ReplicaConnection.send` does. Opens the connection when there is none. */
  send(target: ReplicaTarget, request: ReplicaRequest, signal: AbortSignal): Promise<void>
  /** Ends the connection to a replica and its requests. The next request opens another one. */
  disconnect(target: ReplicaTarget): void
  close(): void
}

interface ReplicaClientOptions {
  /** The key that all replicas share. */
  readonly key: Uint8Array
  /** Unix time in milliseconds. */
  readonly now: () => number
}

/** Builds the client. */
export function createReplicaClient({ key, now }: ReplicaClientOptions): ReplicaClient {
  const connections = new Set<ReplicaConnection>()
  /** The connection that takes requests, by replica and origin. */
  const current = new Map<string, ReplicaConnection>()

  function connectionTo(target: ReplicaTarget): ReplicaConnection {
    const { replicaId, url } = target
    const name = nameOf(target)
    const known = current.get(name)
    if (known?.isUsable()) return known
    const sign: SignText = (text) => {
      const time = now()
      return { time, signature: signReplicaText(key, { replicaId, time, text }) }
    }
    const onEnd = () => {
      connections.delete(opened)
      if (current.get(name) === opened) current.delete(name)
    }
    const opened = openReplicaConnection({ url, sign, onEnd })
    connections.add(opened)
    current.set(name, opened)
    return opened
  }

  return {
    async send(target, request, signal) {
      signal.throwIfAborted()
      return connectionTo(target).send(request, signal)
    },
    disconnect(target) {
      current.get(nameOf(target))?.close()
    },
    close() {
      for (const connection of connections) connection.close()
    },
  }
}

function nameOf({ replicaId, url }: ReplicaTarget): string {
  return `${replicaId} ${url}`
}
