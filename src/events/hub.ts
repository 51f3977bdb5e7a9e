import { ServiceError } from '../../packages/protocol/src/errors.js'
import type { EventFilter, LogEntry, StreamEvent } from '../../packages/protocol/src/orders/event.js'
import type { EventStore } from '../store/events/event-store.js'
import { createConfirmations, createCursorPositions } from './cursor-positions.js'
import { type LogEnd, PublishedLog, type StartPosition } from './published-log.js'
import { createReadQueue, type EnqueueRead } from './read-queue.js'
import { createReplays, type LogPart, type LogReader } from './replays.js'
import {
  cursorUnknown,
  type SubscribedLog,
  Subscriber,
  type SubscriberOptions,
  type Subscription,
} from './subscriber.js'
import { createTurnLimiter, WaitList } from './subscriber-turns.js'

/** Sends each subscriber every event of the log once and in order, at the subscriber's own pace. */
export type Hub = ReturnType<typeof createHub>

interface HubOptions extends LogEnd {
  readonly reader: EventStore
  /** Called with each new event before subscribers receive it. */
  readonly onEvent: (event: StreamEvent) => void
  /** Called for each subscriber that is too slow. */
  readonly onSlow: () => void
  /** Runs reads of the log in turn. */
  readonly enqueueRead?: EnqueueRead
}

/** In place of a cursor: the position before the oldest event kept. No cursor is this word, because cursors have points. */
export const EARLIEST = 'earliest'

const PACE_CHECK_MS = 1000
/** Batches that replaying subscribers process in one turn of the event loop; each takes about 10 us. */
const STEPS_PER_TURN = 64

/** Builds the hub over an event log. */
export function createHub(options: HubOptions) {
  const { reader, onEvent, onSlow, enqueueRead = createReadQueue() } = options
  const published = new PublishedLog(options, onEvent)
  const entries = readEntries(reader, published)
  const replays = createReplays(entries, enqueueRead)
  const confirmations = createConfirmations(entries.readEntry, enqueueRead)
  const positions = createCursorPositions(published, confirmations, options.prunedSequence)
  const subscribers = new Set<Subscriber>()
  const waitList = new WaitList()
  const monitor = setInterval(checkPace, PACE_CHECK_MS)
  let isClosed = false

  const log: SubscribedLog = {
    published,
    replays,
    readBeginning,
    step: createTurnLimiter(STEPS_PER_TURN),
    waitList,
    onEnded: (subscriber) => void subscribers.delete(subscriber),
  }

  function positionOf(after: string | undefined): StartPosition | undefined {
    if (after === undefined) return published.end
    return after === EARLIEST ? positions.beginning() : positions.find(after)
  }

  /** Another replica may have removed entries that this one still counts, and so may retention since the subscription. */
  async function readBeginning(after: number): Promise<LogPart> {
    const [oldest] = await enqueueRead(() => entries.readAfter(after, 1))
    if (oldest === undefined) throw cursorUnknown()
    // The oldest entry kept is only there to confirm cursors: the log begins after it (see EventStore.pruneSome).
    return { entries: [], through: oldest.sequence, cursor: oldest.cursor }
  }

  /** Ends subscribers that are too slow, and wakes those that have waited long enough. */
  function checkPace(): void {
    const now = performance.now()
    waitList.wakeDue(now)
    for (const subscriber of subscribers) {
      if (!subscriber.pace.isTooSlow(now)) continue
      onSlow()
      subscriber.end(new ServiceError('SUBSCRIBER_TOO_SLOW', 'This client is too slow for the events.'))
    }
  }

  function endAll(reason: ServiceError): void {
    for (const subscriber of subscribers) subscriber.end(reason)
  }

  return {
    confirm: positions.confirm,
    isAhead: positions.isAhead,
    pruneThrough: positions.pruneThrough,
    /**
     * @param after a cursor of this log, or `EARLIEST`; the end of the log when undefined
     * @throws ServiceError CURSOR_UNKNOWN or SHUTTING_DOWN
     */
    subscribe(after: string | undefined, filter: EventFilter, options: SubscriberOptions = {}): Subscription {
      if (isClosed) throw shuttingDown()
      const position = positionOf(after)
      if (position === undefined) throw cursorUnknown()
      const subscriber = new Subscriber(log, position, filter, options)
      subscribers.add(subscriber)
      return subscriber
    },
    /** The number of subscribers that replay the log from the database, and the number that wait for it. */
    replays: replays.counts,
    /** Sequence of the last published entry. */
    lastSequence: (): number => published.end.sequence,
    /** The entries of a page after the last published entry, as for PublishedLog. */
    newIn: (page: readonly LogEntry[]) => published.newIn(page),
    /** Sends new entries to all subscribers. They are in the log already and follow the published ones. */
    publish(logEntries: readonly LogEntry[]): void {
      if (logEntries.length === 0) return
      published.append(logEntries)
      waitList.wakeAll()
    },
    /** Ends all subscriptions with CURSOR_UNKNOWN, and continues from the end of a log with another history. */
    startOver(end: LogEnd): void {
      published.startOver(end)
      positions.startOver(end.prunedSequence)
      replays.clear()
      endAll(historyLost())
    },
    /** Ends all subscriptions. */
    close(): void {
      isClosed = true
      clearInterval(monitor)
      endAll(shuttingDown())
    },
  }
}

/** Reads the entries of a log with their cursors. */
function readEntries(reader: HubOptions['reader'], published: PublishedLog): LogReader {
  const toEntry = (entry: LogEntry) => published.toEntry(entry)
  return {
    async readEntry(sequence) {
      const found = await reader.readEntry(sequence)
      return found && toEntry(found)
    },
    readAfter: async (...args) => (await reader.readAfter(...args)).map(toEntry),
    readMatching: async (...args) => (await reader.readMatching(...args))?.map(toEntry),
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
