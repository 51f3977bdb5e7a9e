import { beforeEach, describe, expect, test } from 'vitest'
import type { CircuitBreakerStore } from '../../../src/store/solvers/circuit-breaker-store.js'
import { eventually } from '../../support/eventually.js'
import { answer, lose, open, openRegistry, openStore } from './health-harness.js'
import { roundAt, solver } from './rounds.js'

const ERROR_LEVEL = 50
/** The clocks of two runs of the service: that of the solvers' health, and Unix time. */
const FIRST_RUN = { clock: 70_000, now: 1_800_000_000_000 }
const SECOND_RUN = { clock: 300, now: FIRST_RUN.now + 2000 }

let store: CircuitBreakerStore
let closeStore: () => Promise<void>

beforeEach(async () => {
  const opened = await openStore()
  store = opened.store
  closeStore = opened.close
})

const first = () => openRegistry({ store, ...FIRST_RUN })
const second = () => openRegistry({ store, ...SECOND_RUN })

const untilStored = (count: number) =>
  eventually(
    () => store.readAll(),
    (terms) => terms.length === count,
  )

const moved = solver(1, { endpointUrl: 'https://new.example.org' })

const untilMoved = (openPeriod: { level: number; until: number }) =>
  eventually(
    () => store.readAll(),
    ([stored]) =>
      stored?.endpointUrl === moved.endpointUrl &&
      stored.level === openPeriod.level &&
      stored.until === openPeriod.until,
  )

describe('the health of solvers', () => {
  test('is in the order of the solvers, and the same for the same list', async () => {
    const registry = await first()
    const solvers = [solver(3), solver(1), solver(2)]
    const healths = registry.of(1, solvers)
    expect(healths.map((health) => health.solver)).toEqual(solvers)
    expect(registry.of(1, solvers)).toBe(healths)
  })

  test('stays when the list changes and the solver does not', async () => {
    const registry = await first()
    const [one, two] = registry.of(1, [solver(1), solver(2)])
    open(two, FIRST_RUN.clock)
    const renamed = solver(2, { name: 'New', registeredAt: 99 })
    const healths = registry.of(1, [solver(3), renamed, solver(1)])
    expect(healths[1]).toBe(two)
    expect(healths[2]).toBe(one)
    expect(healths[1]?.solver).toBe(renamed)
    expect(healths.map(({ isOpen }) => isOpen)).toEqual([false, true, false])
    await untilStored(1)
  })

  test('begins without history for a solver at a new endpoint whose breaker was not open', async () => {
    const registry = await first()
    const [before] = registry.of(1, [solver(1)])
    lose(before, FIRST_RUN.clock)
    const [after] = registry.of(1, [moved])
    expect(after).not.toBe(before)
    expect(after?.status(roundAt(FIRST_RUN.clock), FIRST_RUN.clock)).toBe('healthy')
    expect(after?.validShare).toBe(1)
  })

  test('begins half-open at the same level at a new endpoint, with the open period stored', async () => {
    const registry = await first()
    open(registry.of(1, [solver(1)])[0], FIRST_RUN.clock)
    const [after] = registry.of(1, [moved])
    expect(after?.status(roundAt(FIRST_RUN.clock), FIRST_RUN.clock)).toBe('degraded')
    expect(after?.severity).toBe(1)
    await untilMoved({ level: 1, until: FIRST_RUN.now })
  })

  test('begins half-open at a new endpoint after the breaker has closed recently', async () => {
    const registry = await first()
    const [before] = registry.of(1, [solver(1)])
    open(before, FIRST_RUN.clock)
    answer(before, FIRST_RUN.clock)
    const [after] = registry.of(1, [moved])
    expect(after?.status(roundAt(FIRST_RUN.clock), FIRST_RUN.clock)).toBe('degraded')
    await untilMoved({ level: 1, until: FIRST_RUN.now })
  })

  test('keeps the open period at the next new endpoint within 5 minutes', async () => {
    const registry = await first()
    open(registry.of(1, [solver(1)])[0], FIRST_RUN.clock)
    lose(registry.of(1, [moved])[0], FIRST_RUN.clock + 2000)
    const [again] = registry.of(1, [solver(1)])
    const until = FIRST_RUN.clock + 12_000
    expect(again?.status(roundAt(until - 1), until - 1)).toBe('open')
    expect(again?.status(roundAt(until), until)).toBe('degraded')
    expect(again?.severity).toBe(2)
  })

  test('has one early trial in 5 minutes, by an offer or by a move, at all endpoints together', async () => {
    await store.save({ ...solver(1), level: 3, until: FIRST_RUN.now + 60_000 })
    const registry = await first()
    const [before] = registry.of(1, [solver(1)])
    const status = (health: typeof before, at: number) => health?.status(roundAt(at), at)
    answer(before, FIRST_RUN.clock)
    expect(status(before, FIRST_RUN.clock)).toBe('degraded')
    const lostAt = FIRST_RUN.clock + 2000
    lose(before, lostAt)
    expect(before?.severity).toBe(4)
    const [after] = registry.of(1, [moved])
    expect(status(after, lostAt)).toBe('open')
    answer(after, lostAt)
    expect(status(after, lostAt)).toBe('open')
    expect(status(after, lostAt + 40_000)).toBe('degraded')
  })

  test('begins half-open for a solver that had left', async () => {
    const registry = await first()
    open(registry.of(1, [solver(1), solver(2)])[0], FIRST_RUN.clock)
    await untilStored(1)
    registry.of(1, [solver(2)])
    await untilStored(0)
    const [back] = registry.of(1, [solver(1), solver(2)])
    expect(back?.status(roundAt(FIRST_RUN.clock), FIRST_RUN.clock)).toBe('degraded')
    await untilStored(1)
  })

  test('does not apply to the same address on another chain', async () => {
    const registry = await first()
    const elsewhere = solver(1, { chainId: 2 })
    open(registry.of(1, [solver(1)])[0], FIRST_RUN.clock)
    expect(registry.of(2, [elsewhere])[0]?.isOpen).toBe(false)
    await untilStored(1)
    registry.of(2, [])
    expect((await second()).of(1, [solver(1)])[0]?.isOpen).toBe(true)
  })
})

describe('an open period', () => {
  test('is stored in Unix time, with the endpoint where it began', async () => {
    const registry = await first()
    open(registry.of(1, [solver(1)])[0], FIRST_RUN.clock)
    const { chainId, address, endpointUrl } = solver(1)
    expect(await untilStored(1)).toEqual([
      { chainId, address, endpointUrl, level: 1, until: FIRST_RUN.now + 5000 },
    ])
  })

  test("continues after a restart, on the new health's clock", async () => {
    const before = await first()
    open(before.of(1, [solver(1)])[0], FIRST_RUN.clock)
    await untilStored(1)
    const [health] = (await second()).of(1, [solver(1)])
    const until = SECOND_RUN.clock + 3000
    expect([health?.status(roundAt(until - 1), until - 1), health?.status(roundAt(until), until)]).toEqual([
      'open',
      'degraded',
    ])
    expect(health?.severity).toBe(1)
  })

  test('that ended while the service was down costs at most one quote', async () => {
    const { chainId, address, endpointUrl } = solver(1)
    await store.save({ chainId, address, endpointUrl, level: 3, until: SECOND_RUN.now - 60_000 })
    const [health] = (await second()).of(1, [solver(1)])
    expect(health?.status(roundAt(SECOND_RUN.clock), SECOND_RUN.clock)).toBe('degraded')
    lose(health, SECOND_RUN.clock)
    expect(health?.status(roundAt(SECOND_RUN.clock + 39_999), SECOND_RUN.clock + 39_999)).toBe('open')
    await eventually(
      () => store.readAll(),
      ([openPeriod]) => openPeriod?.level === 4 && openPeriod.until === SECOND_RUN.now + 40_000,
    )
  })

  test('ends when the solver answers, also after a restart', async () => {
    const registry = await first()
    const [health] = registry.of(1, [solver(1)])
    open(health, FIRST_RUN.clock)
    await untilStored(1)
    answer(health, FIRST_RUN.clock)
    await untilStored(0)
    expect((await second()).of(1, [solver(1)])[0]?.isOpen).toBe(false)
  })

  test('from before a restart is on its chain only', async () => {
    const { chainId, address, endpointUrl } = solver(1)
    await store.save({ chainId, address, endpointUrl, level: 1, until: SECOND_RUN.now + 5000 })
    const registry = await second()
    expect(registry.of(2, [solver(1, { chainId: 2 })])[0]?.isOpen).toBe(false)
    expect(registry.of(1, [solver(1)])[0]?.isOpen).toBe(true)
  })

  test('from before a restart begins half-open at the same level when the solver has moved', async () => {
    const { chainId, address, endpointUrl } = solver(1)
    await store.save({ chainId, address, endpointUrl, level: 3, until: SECOND_RUN.now + 20_000 })
    const [health] = (await second()).of(1, [moved])
    expect(health?.status(roundAt(SECOND_RUN.clock), SECOND_RUN.clock)).toBe('degraded')
    expect(health?.severity).toBe(3)
    await untilMoved({ level: 3, until: SECOND_RUN.now })
  })

  test('from before a restart lasts at most 5 minutes, also when the clock was set back', async () => {
    const { chainId, address, endpointUrl } = solver(1)
    await store.save({ chainId, address, endpointUrl, level: 9, until: SECOND_RUN.now + 3_600_000 })
    const [health] = (await second()).of(1, [solver(1)])
    expect(health?.status(roundAt(SECOND_RUN.clock + 299_999), SECOND_RUN.clock + 299_999)).toBe('open')
    expect(health?.status(roundAt(SECOND_RUN.clock + 300_000), SECOND_RUN.clock + 300_000)).toBe('degraded')
  })
})

describe('a solver that leaves', () => {
  test('has its open period removed, and other solvers keep theirs', async () => {
    const registry = await first()
    const healths = registry.of(1, [solver(1), solver(2), solver(3)])
    open(healths[0], FIRST_RUN.clock)
    open(healths[1], FIRST_RUN.clock)
    await untilStored(2)
    registry.of(1, [solver(2), solver(3)])
    expect((await untilStored(1))[0]?.address).toBe(solver(2).address)
  })
})

describe('a store that fails', () => {
  test('is logged, and the circuit breaker still opens and closes', async () => {
    const registry = await first()
    const [health] = registry.of(1, [solver(1)])
    await closeStore()
    const untilLogged = (count: number) =>
      eventually(
        async () => registry.lines.filter(({ level }) => level === ERROR_LEVEL),
        (errors) => errors.length === count,
      )
    open(health, FIRST_RUN.clock)
    expect(health?.isOpen).toBe(true)
    expect((await untilLogged(1))[0]?.msg).toBe('the state of a circuit breaker could not be stored')
    answer(health, FIRST_RUN.clock)
    expect(health?.isOpen).toBe(false)
    await untilLogged(2)
    open(health, FIRST_RUN.clock)
    registry.of(1, [])
    await untilLogged(4)
  })

  test('fails the start of a registry that cannot be read', async () => {
    await closeStore()
    await expect(first()).rejects.toThrow()
  })
})

describe('a health that was replaced', () => {
  test('reports neither that its breaker opens nor that it closes', async () => {
    const registry = await first()
    const [old] = registry.of(1, [solver(1)])
    const [current] = registry.of(1, [moved])
    open(old, FIRST_RUN.clock)
    open(current, FIRST_RUN.clock)
    answer(old, FIRST_RUN.clock)
    const [openPeriod] = await untilStored(1)
    expect(openPeriod).toMatchObject({ endpointUrl: moved.endpointUrl, level: 1 })
    expect(registry.lines).toHaveLength(1)
  })
})

describe('the metrics', () => {
  test('have solvers that no quote has asked yet', async () => {
    const registry = await first()
    registry.collectMetrics(new Map([[1, [solver(1)]]]))
    registry.of(1, [solver(1)])
    expect(await registry.series('aggregator_solver_circuit_open')).toEqual(['1 1 0'])
  })

  test('have the circuit breaker, the valid share and the latency of every solver on every chain', async () => {
    const registry = await first()
    const { clock } = FIRST_RUN
    const [opened, quick] = registry.of(1, [solver(1), solver(2), solver(3)])
    const [elsewhere] = registry.of(2, [solver(1, { chainId: 2 })])
    open(opened, clock)
    answer(quick, clock, 250)
    answer(elsewhere, clock, 1500)
    expect(await registry.series('aggregator_solver_circuit_open')).toEqual([
      '1 1 1',
      '1 2 0',
      '1 3 0',
      '2 1 0',
    ])
    expect(await registry.series('aggregator_solver_valid_ratio')).toEqual([
      `1 1 ${(7 / 8) ** 3}`,
      '1 2 1',
      '1 3 1',
      '2 1 1',
    ])
    expect(await registry.series('aggregator_solver_latency_seconds')).toEqual(['1 2 0.25', '2 1 1.5'])
  })

  test('drop the series of solvers that have left', async () => {
    const registry = await first()
    const healths = registry.of(1, [solver(1), solver(2)])
    for (const health of healths) answer(health, FIRST_RUN.clock, 100)
    open(healths[0], FIRST_RUN.clock)
    expect(await registry.series('aggregator_solver_circuit_open')).toEqual(['1 1 1', '1 2 0'])
    registry.of(1, [solver(2)])
    expect(await registry.series('aggregator_solver_circuit_open')).toEqual(['1 2 0'])
    expect(await registry.series('aggregator_solver_valid_ratio')).toEqual(['1 2 1'])
    expect(await registry.series('aggregator_solver_latency_seconds')).toEqual(['1 2 0.1'])
    registry.of(1, [])
    expect(await registry.series('aggregator_solver_circuit_open')).toEqual([])
  })
})
