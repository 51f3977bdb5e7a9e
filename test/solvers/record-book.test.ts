import { beforeEach, describe, expect, test } from 'vitest'
import type { BenchStore } from '../../src/store/bench-store.js'
import { eventually } from '../service/eventually.js'
import { answer, bench, fail, openBook, openStore, solver } from './record-book-harness.js'

const ERROR_LEVEL = 50
/** The clocks of two runs of the service: the records' own, and Unix time. */
const FIRST_RUN = { clock: 70_000, now: 1_800_000_000_000 }
const SECOND_RUN = { clock: 300, now: FIRST_RUN.now + 2000 }

let store: BenchStore
let closeStore: () => Promise<void>

beforeEach(async () => {
  const opened = await openStore()
  store = opened.store
  closeStore = opened.close
})

const first = () => openBook({ store, ...FIRST_RUN })
const second = () => openBook({ store, ...SECOND_RUN })

const untilStored = (count: number) =>
  eventually(
    () => store.readAll(),
    (terms) => terms.length === count,
  )

describe('the records of a chain', () => {
  test('are in the order of its solvers, and the same ones for the same list', async () => {
    const book = await first()
    const solvers = [solver(3), solver(1), solver(2)]
    const records = book.of(1, solvers)
    expect(records.map((record) => record.solver)).toEqual(solvers)
    expect(book.of(1, solvers)).toBe(records)
  })

  test('stay when the list changes and the solver does not', async () => {
    const book = await first()
    const [one, two] = book.of(1, [solver(1), solver(2)])
    bench(two, FIRST_RUN.clock)
    const renamed = solver(2, { name: 'New', registeredAt: 99 })
    const records = book.of(1, [solver(3), renamed, solver(1)])
    expect(records[1]).toBe(two)
    expect(records[2]).toBe(one)
    expect(records[1]?.solver).toBe(renamed)
    expect(records.map(({ isBenched }) => isBenched)).toEqual([false, true, false])
    await untilStored(1)
  })

  test('are begun anew for a solver at a new endpoint, whose term is forgotten', async () => {
    const book = await first()
    const [before] = book.of(1, [solver(1)])
    bench(before, FIRST_RUN.clock)
    await untilStored(1)
    const [after] = book.of(1, [solver(1, { endpointUrl: 'https://new.example.org' })])
    expect(after).not.toBe(before)
    expect(after?.standing(FIRST_RUN.clock)).toBe('sound')
    await untilStored(0)
  })

  test('are begun anew for a solver that was away', async () => {
    const book = await first()
    bench(book.of(1, [solver(1), solver(2)])[0], FIRST_RUN.clock)
    await untilStored(1)
    book.of(1, [solver(2)])
    await untilStored(0)
    expect(book.of(1, [solver(1), solver(2)])[0]?.isBenched).toBe(false)
  })

  test('say nothing of the same address on another chain', async () => {
    const book = await first()
    const elsewhere = solver(1, { chainId: 2 })
    bench(book.of(1, [solver(1)])[0], FIRST_RUN.clock)
    expect(book.of(2, [elsewhere])[0]?.isBenched).toBe(false)
    await untilStored(1)
    book.of(2, [])
    expect((await second()).of(1, [solver(1)])[0]?.isBenched).toBe(true)
  })
})

describe('a term', () => {
  test('is kept in Unix time, with the endpoint where it was begun', async () => {
    const book = await first()
    bench(book.of(1, [solver(1)])[0], FIRST_RUN.clock)
    const { chainId, address, endpointUrl } = solver(1)
    expect(await untilStored(1)).toEqual([
      { chainId, address, endpointUrl, level: 1, until: FIRST_RUN.now + 5000 },
    ])
  })

  test("goes on behind a restart, on the new record's clock", async () => {
    const before = await first()
    bench(before.of(1, [solver(1)])[0], FIRST_RUN.clock)
    await untilStored(1)
    const [record] = (await second()).of(1, [solver(1)])
    const until = SECOND_RUN.clock + 3000
    expect([record?.standing(until - 1), record?.standing(until)]).toEqual(['benched', 'weak'])
    expect(record?.badness).toBe(1)
  })

  test('that ran out while the service was down costs one quote at the most', async () => {
    const { chainId, address, endpointUrl } = solver(1)
    await store.save({ chainId, address, endpointUrl, level: 3, until: SECOND_RUN.now - 60_000 })
    const [record] = (await second()).of(1, [solver(1)])
    expect(record?.standing(SECOND_RUN.clock)).toBe('weak')
    fail(record, SECOND_RUN.clock)
    expect(record?.standing(SECOND_RUN.clock + 39_999)).toBe('benched')
    await eventually(
      () => store.readAll(),
      ([term]) => term?.level === 4 && term.until === SECOND_RUN.now + 40_000,
    )
  })

  test('is over for good when the solver answers', async () => {
    const book = await first()
    const [record] = book.of(1, [solver(1)])
    bench(record, FIRST_RUN.clock)
    await untilStored(1)
    answer(record, FIRST_RUN.clock)
    await untilStored(0)
    expect((await second()).of(1, [solver(1)])[0]?.isBenched).toBe(false)
  })

  test('of before a restart holds at its endpoint only, and on its chain only', async () => {
    const { chainId, address, endpointUrl } = solver(1)
    await store.save({ chainId, address, endpointUrl, level: 1, until: SECOND_RUN.now + 5000 })
    const book = await second()
    const moved = await second()
    expect(book.of(2, [solver(1, { chainId: 2 })])[0]?.isBenched).toBe(false)
    expect(book.of(1, [solver(1)])[0]?.isBenched).toBe(true)
    expect(moved.of(1, [solver(1, { endpointUrl: 'https://new.example.org' })])[0]?.isBenched).toBe(false)
  })

  test('of before a restart is forgotten when the solver has moved', async () => {
    const { chainId, address } = solver(1)
    const endpointUrl = 'https://old.example.org'
    await store.save({ chainId, address, endpointUrl, level: 1, until: SECOND_RUN.now + 5000 })
    const book = await second()
    expect(book.of(1, [solver(1)])[0]?.isBenched).toBe(false)
    await untilStored(0)
  })

  test('of before a restart is 5 minutes at the most, though the clock was put back', async () => {
    const { chainId, address, endpointUrl } = solver(1)
    await store.save({ chainId, address, endpointUrl, level: 9, until: SECOND_RUN.now + 3_600_000 })
    const [record] = (await second()).of(1, [solver(1)])
    expect(record?.standing(SECOND_RUN.clock + 299_999)).toBe('benched')
    expect(record?.standing(SECOND_RUN.clock + 300_000)).toBe('weak')
  })

  test('of before a restart is taken up once: whoever comes back later begins anew', async () => {
    const { chainId, address, endpointUrl } = solver(1)
    await store.save({ chainId, address, endpointUrl, level: 1, until: SECOND_RUN.now + 5000 })
    const book = await second()
    expect(book.of(1, [solver(1)])[0]?.isBenched).toBe(true)
    book.of(1, [])
    expect(book.of(1, [solver(1)])[0]?.isBenched).toBe(false)
    await untilStored(0)
  })
})

describe('a solver that is gone', () => {
  test('has its term removed, and those who stay keep theirs', async () => {
    const book = await first()
    const records = book.of(1, [solver(1), solver(2), solver(3)])
    bench(records[0], FIRST_RUN.clock)
    bench(records[1], FIRST_RUN.clock)
    await untilStored(2)
    book.of(1, [solver(2), solver(3)])
    expect((await untilStored(1))[0]?.address).toBe(solver(2).address)
  })
})

describe('a store that fails', () => {
  test('is logged, and the solver is benched and comes back all the same', async () => {
    const book = await first()
    const [record] = book.of(1, [solver(1)])
    await closeStore()
    const untilLogged = (count: number) =>
      eventually(
        async () => book.lines.filter(({ level }) => level === ERROR_LEVEL),
        (errors) => errors.length === count,
      )
    bench(record, FIRST_RUN.clock)
    expect(record?.isBenched).toBe(true)
    expect((await untilLogged(1))[0]?.msg).toBe('a term on the bench could not be kept')
    answer(record, FIRST_RUN.clock)
    expect(record?.isBenched).toBe(false)
    await untilLogged(2)
    bench(record, FIRST_RUN.clock)
    book.of(1, [])
    await untilLogged(4)
  })

  test('lets nobody begin with a book that it could not read', async () => {
    await closeStore()
    await expect(first()).rejects.toThrow()
  })
})

describe('a record that was replaced', () => {
  test('says nothing more: neither that its solver is benched, nor that it is back', async () => {
    const book = await first()
    const [old] = book.of(1, [solver(1)])
    const moved = solver(1, { endpointUrl: 'https://new.example.org' })
    const [current] = book.of(1, [moved])
    bench(old, FIRST_RUN.clock)
    bench(current, FIRST_RUN.clock)
    answer(old, FIRST_RUN.clock)
    const [term] = await untilStored(1)
    expect(term).toMatchObject({ endpointUrl: moved.endpointUrl, level: 1 })
    expect(book.lines).toHaveLength(1)
  })
})

describe('measuring', () => {
  test('tells of solvers that no quote has asked yet', async () => {
    const book = await first()
    book.measure(new Map([[1, [solver(1)]]]))
    book.of(1, [solver(1)])
    expect(await book.series('aggregator_solver_benched')).toEqual(['1 1 0'])
  })

  test('tells of every solver on every chain whether it is benched, how valid and how quick it is', async () => {
    const book = await first()
    const { clock } = FIRST_RUN
    const [benched, quick] = book.of(1, [solver(1), solver(2), solver(3)])
    const [elsewhere] = book.of(2, [solver(1, { chainId: 2 })])
    bench(benched, clock)
    answer(quick, clock, 250)
    answer(elsewhere, clock, 1500)
    expect(await book.series('aggregator_solver_benched')).toEqual(['1 1 1', '1 2 0', '1 3 0', '2 1 0'])
    expect(await book.series('aggregator_solver_valid_ratio')).toEqual([
      `1 1 ${(7 / 8) ** 3}`,
      '1 2 1',
      '1 3 1',
      '2 1 1',
    ])
    expect(await book.series('aggregator_solver_latency_seconds')).toEqual(['1 2 0.25', '2 1 1.5'])
  })

  test('drops the series of solvers that are gone', async () => {
    const book = await first()
    const records = book.of(1, [solver(1), solver(2)])
    for (const record of records) answer(record, FIRST_RUN.clock, 100)
    bench(records[0], FIRST_RUN.clock)
    expect(await book.series('aggregator_solver_benched')).toEqual(['1 1 1', '1 2 0'])
    book.of(1, [solver(2)])
    expect(await book.series('aggregator_solver_benched')).toEqual(['1 2 0'])
    expect(await book.series('aggregator_solver_valid_ratio')).toEqual(['1 2 1'])
    expect(await book.series('aggregator_solver_latency_seconds')).toEqual(['1 2 0.1'])
    book.of(1, [])
    expect(await book.series('aggregator_solver_benched')).toEqual([])
  })
})
