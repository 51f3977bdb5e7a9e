import { type EventSink, EventSinkError } from '../../../src/chain/event-sink.js'
import type { Random } from '../../support/random.js'

/** Makes the writes of an event sink fail at random, as often as a test allows: before or after the write. */
export function createFaultyEventSink(eventSink: EventSink, random: Random) {
  let failuresLeft = 0
  let isOpen = true

  function failing<A extends unknown[], R>(write: (...parameters: A) => Promise<R>) {
    return async (...parameters: A): Promise<R> => {
      const fails = failuresLeft > 0 && random.integer(0, 4) === 0
      if (!fails) return write(...parameters)
      failuresLeft--
      if (random.integer(0, 1) === 0) await write(...parameters)
      isOpen = false
      throw new EventSinkError('the database is down')
    }
  }

  const faulty: EventSink = {
    ...eventSink,
    async open() {
      isOpen = true
      return eventSink.open()
    },
    isOpen: () => isOpen && eventSink.isOpen(),
    begin: failing(eventSink.begin),
    append: failing(eventSink.append),
    appendMissing: failing(eventSink.appendMissing),
    revert: failing(eventSink.revert),
  }

  return {
    eventSink: faulty,
    allow(failures: number) {
      failuresLeft = failures
    },
  }
}
