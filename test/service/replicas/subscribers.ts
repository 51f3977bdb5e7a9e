import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../../support/eventually.js'
import type { Replica, ReplicaProcesses, ReplicaState } from '../../support/replicas/replica-processes.js'
import type { EventMessage, StreamMessage } from '../../support/streams/event-messages.js'
import type { StreamClient, StreamEnd } from '../../support/streams/stream-clients.js'
import type { StreamTransport } from '../../support/streams/transports.js'

export type FleetSubscriber = Awaited<ReturnType<typeof subscribeToFleet>>

/** How a stream ended, and the state of its replica at that moment. */
interface Ending extends StreamEnd {
  readonly replica: number
  readonly state: ReplicaState
}

const PAUSE_MS = 20

/**
 * Follows the events of a fleet on one transport. Whenever its stream ends, or cannot be opened, it continues
 * at the next replica after its last message. Resolves when it is connected.
 */
export async function subscribeToFleet(fleet: ReplicaProcesses, transport: StreamTransport, first: Replica) {
  const received: StreamMessage[] = []
  const endings: Ending[] = []
  let replica = first
  let client: StreamClient | undefined
  let cursor: string | undefined
  let isLeaving = false

  async function follow(): Promise<void> {
    for (; !isLeaving; replica = fleet.after(replica)) {
      client = transport.open(replica.url, cursor === undefined ? {} : { after: cursor })
      const end = await client.ended()
      received.push(...client.events())
      cursor = client.messages.at(-1)?.cursor ?? cursor
      client = undefined
      endings.push({ ...end, replica: replica.index, state: replica.state() })
      await pause(PAUSE_MS)
    }
  }

  const following = follow()
  const all = (): StreamMessage[] => [...received, ...(client?.events() ?? [])]
  await eventually(
    async () => client?.messages.length ?? 0,
    (length) => length > 0,
  )

  return {
    name: `${transport.name} at replica ${first.index} first`,
    /** All events over all streams. */
    received: all,
    /** All streams that have ended, also those that were rejected. */
    endings: endings as readonly Ending[],
    /** The replica to which it is connected. */
    replica: () => replica,
    /** Resolves when an order's deposit has come. */
    until: (orderId: string) =>
      eventually(
        async () => all() as EventMessage[],
        (events) => events.some((event) => event.type === 'Deposited' && event.orderId === orderId),
      ),
    async leave(): Promise<void> {
      isLeaving = true
      client?.leave()
      await following
    },
  }
}
