import type { Clock } from '../../packages/protocol/src/clock.js'
import { ServiceError } from '../../packages/protocol/src/errors.js'
import type { EventFilter, LogEntry, StreamEvent } from '../../packages/protocol/src/orders/event.js'
import type { ClientId } from '../clients/client-id.js'
import type { EventStore } from '../store/events/event-store.js'
import { type CursorPositions, createCursorPositions, type StartPosition } from './cursors.js'
import { type LogEnd, PublishedLog } from './published-log.js'
import { ReadQueue } from './read-queue.js'
import { createLogReader, createReplays, type LogPart } from './replays.js'
import {
  cursorUnknown,
  type SubscribedLog,
  Subscriber,
  type SubscriberOptions,
  type Subscription,
} from './subscriber.js'
import { SubscriberTurns } from './subscriber-turns.js'

/** Sends each subscriber every event of the log once and in order, at the subscriber's own pace. */
export interface Hub extends Pick<CursorPositions, 'confirm' | 'isAhead' | 'pruneThrough'> {
  /**
   * @param after a cursor of this log, or `EARLIEST`; the end of the log when undefined
   * @throws ServiceError CURSOR_UNKNOWN or SHUTTING_DOWN
   */
  subscribe(after: string | undefined, filter: EventFilter, options?: SubscriberOptions): Subscription
  /** The number of reads of the log for subscribers, and the number that wait. */
  replays: ReadQueue['counts']
  /** Sequence of the last published entry. */
  lastSequence(): number
  /** The entries of a page after the last published entry, as for PublishedLog. */
  newIn: PublishedLog['newIn']
  /** Sends new entries to all subscribers. They are in the log already and follow the published ones. */
  publish(logEntries: readonly LogEntry[]): void
  /** Ends all subscriptions with CURSOR_UNKNOWN, and continues from the end of a log with another history. */
  startOver(end: LogEnd): void
  /** Ends all subscriptions. */
  close(): void
}

interface HubOptions extends LogEnd {
  readonly store: EventStore
  /** Called with each new event before subscribers receive it. */
  readonly onEvent: (event: StreamEvent) => void
  /** Called for each subscriber that is too slow. */
  readonly onSlow: () => void
  readonly reads?: ReadQueue
  readonly clock: Clock
}

/** In place of a cursor: the position before the oldest event kept. No cursor is this word, because cursors have points. */
export const EARLIEST = 'earliest'

const PACE_CHECK_MS = 1000

/** Builds the hub over an event log. */
export function createHub(options: HubOptions): Hub {
  const { store, onEvent, onSlow, clock, reads = new ReadQueue(clock) } = options
  const published = new PublishedLog(options, onEvent)
  const reader = createLogReader(store, published)
  const replays = createReplays(reader, reads, clock)
  const positions = createCursorPositions(
    published,
    options.prunedSequence,
    (client, sequence) => reads.add(client, () => reader.readEntry(sequence)).answer,
  )
  const subscribers = new Set<Subscriber>()
  const turns = new SubscriberTurns()
  const monitor = clock.setInterval(checkPace, PACE_CHECK_MS)
  let isClosed = false

  const log: SubscribedLog = {
    published,
    replays,
    readBeginning,
    turns,
    monotonic: clock.monotonic,
    onEnded: (subscriber) => void subscribers.delete(subscriber),
  }

  function positionOf(after: string | undefined): StartPosition | undefined {
    if (after === undefined) return published.end
    return after === EARLIEST ? positions.beginning() : positions.find(after)
  }

  /** Another replica may have removed entries that this one still counts, and so may retention since the subscription. */
  async function readBeginning(client: ClientId, after: number): Promise<LogPart> {
    const [oldest] = await reads.add(client, () => reader.readAfter(after, 1)).answer
    if (oldest === undefined) throw cursorUnknown()
    // The oldest entry kept is only there to confirm cursors: the log begins after it (see EventStore.pruneSome).
    return { entries: [], through: oldest.sequence, cursor: oldest.cursor }
  }

  /** Ends subscribers that are too slow, and wakes those that have waited long enough. */
  function checkPace(): void {
    const now = clock.monotonic()
    turns.wakeDue(now)
    for (const subscriber of subscribers) {
      if (!subscriber.pace.isTooSlow(now)) continue
      onSlow()
      subscriber.close(new ServiceError('SUBSCRIBER_TOO_SLOW', 'This client is too slow for the events.'))
    }
  }

  function endAll(reason: ServiceError): void {
    for (const subscriber of subscribers) subscriber.close(reason)
  }

  return {
    confirm: positions.confirm,
    isAhead: positions.isAhead,
    pruneThrough: positions.pruneThrough,
    subscribe(after, filter, options = {}) {
      if (isClosed) throw shuttingDown()
      const position = positionOf(after)
      if (position === undefined) throw cursorUnknown()
      const subscriber = new Subscriber(log, position, filter, options)
      subscribers.add(subscriber)
      return subscriber
    },
    replays: () => reads.counts(),
    lastSequence: () => published.end.sequence,
    newIn: (page) => published.newIn(page),
    publish(logEntries) {
      if (logEntries.length === 0) return
      published.append(logEntries)
      turns.wakeAll()
    },
    startOver(end) {
      published.startOver(end)
      positions.startOver(end.prunedSequence)
      replays.clear()
      endAll(historyLost())
    },
    close() {
      isClosed = true
      monitor.stop()
      endAll(shuttingDown())
    },
  }
}

function shuttingDown(): ServiceError {
  return new ServiceError('SHUTTING_DOWN', 'The service is shutting down. Come back with the last cursor.')
}

/** Short enough for the close reason of a WebSocket. */
function historyLost(): ServiceError {
  return new ServiceError(
    'CURSOR_UNKNOWN',
    'The event log went back to an earlier state, and this cursor is lost. Subscribe again without it.',
  )
}
