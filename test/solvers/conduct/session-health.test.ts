import { beforeEach, describe, expect, test } from 'vitest'
import { NO_ENDPOINT } from '../../../packages/protocol/src/solvers/solver.js'
import { MAX_OPEN_SESSION_REQUESTS } from '../../../src/solvers/conduct/request-slots.js'
import type { CircuitBreakerStore } from '../../../src/store/solvers/circuit-breaker-store.js'
import { eventually } from '../../support/eventually.js'
import { answer, lose, open, openRegistry, openStore } from './health-harness.js'
import { roundAt, solver } from './rounds.js'

const START = { clock: 70_000, now: 1_800_000_000_000 }
const RESTART = { clock: 300, now: START.now + 2000 }
const MAX_CONNECTIONS = 8

let store: CircuitBreakerStore

beforeEach(async () => {
  store = (await openStore()).store
})

/** A solver without an endpoint on this session. */
const onSession = (id: string) => solver(1, { endpointUrl: NO_ENDPOINT, session: { id } })
const endpoint = solver(1)
const both = solver(1, { session: { id: 'a' } })

const untilStored = (count: number) =>
  eventually(
    () => store.readAll(),
    (periods) => periods.length === count,
  )

describe('the health of a solver', () => {
  test.each([
    ['its session is replaced', onSession('a'), onSession('b')],
    ['it opens a session beside its endpoint', endpoint, both],
    ['its session ends and it has an endpoint', both, endpoint],
    ['it registers an endpoint during its session', onSession('a'), both],
    ['its endpoint changes during its session', both, { ...both, endpointUrl: 'https://new.example.org' }],
  ])('stays when %s', async (_when, before, after) => {
    const registry = await openRegistry({ store, ...START })
    const [health] = registry.of(1, [before])
    open(health, START.clock)
    expect(registry.of(1, [after])[0]).toBe(health)
    expect(health?.solver).toBe(after)
    expect(health?.status(roundAt(START.clock), START.clock)).toBe('open')
    await untilStored(1)
  })

  test('stays when its session breaks off and it connects again', async () => {
    const registry = await openRegistry({ store, ...START })
    const [health] = registry.of(1, [onSession('a')])
    answer(health, START.clock, 250)
    lose(health, START.clock)
    registry.of(1, [])
    expect(registry.of(1, [onSession('b')])[0]).toBe(health)
    expect([health?.usualMs, health?.validShare, health?.solver.session?.id]).toEqual([250, 7 / 8, 'b'])
  })

  test('keeps its open period in the store while it is not connected, also over a restart', async () => {
    const before = await openRegistry({ store, ...START })
    open(before.of(1, [onSession('a')])[0], START.clock)
    await untilStored(1)
    before.of(1, [])
    const after = await openRegistry({ store, ...RESTART })
    const [health] = after.of(1, [onSession('b')])
    const until = RESTART.clock + 3000
    expect(health?.status(roundAt(until - 1), until - 1)).toBe('open')
    expect(health?.status(roundAt(until), until)).toBe('degraded')
  })

  test('stores that its breaker closes while it is not connected', async () => {
    const registry = await openRegistry({ store, ...START })
    const [health] = registry.of(1, [onSession('a')])
    open(health, START.clock)
    await untilStored(1)
    registry.of(1, [])
    answer(health, START.clock)
    await untilStored(0)
    expect(registry.of(1, [onSession('b')])[0]?.isOpen).toBe(false)
  })

  test('begins again when its solver was not connected for more than five minutes', async () => {
    let clock = START.clock
    const registry = await openRegistry({ store, now: START.now, clock: () => clock })
    const [health] = registry.of(1, [onSession('a')])
    registry.of(1, [])
    clock += 300_000
    expect(registry.of(1, [onSession('b')])[0]).toBe(health)
    registry.of(1, [])
    clock += 300_001
    expect(registry.of(1, [onSession('c')])[0]).not.toBe(health)
  })
})

describe('the slots of a solver', () => {
  /** How many requests are taken until there are no more slots. */
  function fill(slots: { tryTake(now: number): boolean } | undefined): number {
    let taken = 0
    while (slots?.tryTake(0)) taken++
    return taken
  }

  test('are those of its session while it has one, and of its endpoint otherwise', async () => {
    const registry = await openRegistry({ store, ...START })
    const [health] = registry.of(1, [both])
    expect(fill(health?.slots)).toBe(MAX_OPEN_SESSION_REQUESTS)
    registry.of(1, [endpoint])
    expect(fill(health?.slots)).toBe(MAX_CONNECTIONS)
    registry.of(1, [onSession('b')])
    expect(health?.slots.isFull).toBe(false)
  })

  test('are shared by the chains of one session', async () => {
    const registry = await openRegistry({ store, ...START })
    const [one] = registry.of(1, [onSession('a')])
    const [other] = registry.of(2, [{ ...onSession('a'), chainId: 2 }])
    expect(other?.slots).toBe(one?.slots)
    expect(other).not.toBe(one)
  })
})
