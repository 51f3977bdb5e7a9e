import { expect, test } from 'vitest'
import { createEventSink, EventSinkError } from '../../src/chain/event-sink.js'
import type { EventStore } from '../../src/store/events/event-store.js'
import { only } from '../support/only.js'

const HEADER = { number: 1, hash: '0x1', parentHash: '0x0' } as const
const BLOCKS = { headers: [HEADER], events: [], keepFrom: 1 } as const

test.each([
  ['a first block', 'begin', false],
  ['blocks', 'append', false],
  ['missing events', 'appendMissing', false],
  ['a reorganisation', 'revert', false],
  ['solvers', 'knownSolvers', true],
  ['blocks with events', 'eventBlocks', true],
] as const)(
  'a failure at %s is one of the sink, and only a write has it opened again',
  async (_what, method, isOpen) => {
    const cause = new Error('the disk is full')
    const fail = () => Promise.reject(cause)
    const store = {
      takeOver: async () => ({ chainId: 1, epoch: 2, position: undefined }),
      begin: fail,
      append: fail,
      appendMissing: fail,
      revert: fail,
      knownSolvers: fail,
      eventBlocks: fail,
    }
    const sink = createEventSink(1, only<EventStore>(store), (write) => write())
    expect(sink.isOpen()).toBe(false)
    await sink.open()
    expect(sink.isOpen()).toBe(true)
    const calls = {
      begin: () => sink.begin('0x5e', HEADER),
      append: () => sink.append(BLOCKS),
      appendMissing: () => sink.appendMissing([]),
      revert: () => sink.revert(HEADER),
      knownSolvers: () => sink.knownSolvers([]),
      eventBlocks: () => sink.eventBlocks(1, 1),
    }
    const error = await calls[method]().catch((thrown) => thrown)
    expect(error).toBeInstanceOf(EventSinkError)
    expect(error.cause).toBe(cause)
    expect(sink.isOpen()).toBe(isOpen)
    await sink.open()
    expect(sink.isOpen()).toBe(true)
  },
)
