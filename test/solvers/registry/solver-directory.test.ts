import { beforeEach, describe, expect, test } from 'vitest'
import type { SolverStore } from '../../../src/store/solvers/solver-store.js'
import { inPostgres } from '../../store/databases.js'
import { NO_LIMIT, openStore, solver } from '../../store/solvers/solver-samples.js'
import { openDirectory } from './open-directory.js'

const [one, other] = [solver(1), solver(2)]
const { chainId } = one
const create = inPostgres()

let store: SolverStore
beforeEach(async () => {
  const opened = await openStore(await create())
  store = opened.store
})

const removed = `a solver is no longer registered: ${one.address}`

describe('a change', () => {
  test('ends when the list has it', async () => {
    const { directory } = await openDirectory(store)
    await directory.change(chainId, () => store.save(one, 1, NO_LIMIT))
    expect(directory.active(chainId)).toEqual([one])
    await directory.change(chainId, () => store.setBonded(one, false, 5))
    expect(directory.active(chainId)).toEqual([])
    expect(directory.find(one)).toEqual({ ...one, isBonded: false, unbondedSince: 5 })
    await directory.change(chainId, () => store.remove(one, 2))
    expect(directory.registered(chainId)).toEqual([])
  })

  test('that the store rejects rejects, and the list stays', async () => {
    const { directory } = await openDirectory(store)
    await directory.change(chainId, () => store.save(one, 1, NO_LIMIT))
    const before = directory.active(chainId)
    await expect(directory.change(chainId, () => store.save(other, 1, 1))).rejects.toMatchObject({
      reason: 'SOLVER_LIMIT_REACHED',
    })
    expect(directory.active(chainId)).toBe(before)
  })

  test('replaces the array of active solvers only when these differ, and never changes it', async () => {
    await store.save(one, 1, NO_LIMIT)
    const { directory } = await openDirectory(store)
    const first = directory.active(chainId)
    await directory.change(chainId, () => store.save({ ...other, isBonded: false }, 1, NO_LIMIT))
    expect(directory.registered(chainId)).toHaveLength(2)
    expect(directory.active(chainId)).toBe(first)
    await directory.change(chainId, () => store.setBonded(other, true, 5))
    expect(directory.active(chainId)).toEqual([one, other])
    expect(first).toEqual([one])
  })
})

describe('a change by another process', () => {
  test('is in the list after its message, and after lost messages', async () => {
    const { directory, listener } = await openDirectory(store)
    await store.save(one, 1, NO_LIMIT)
    listener.onMessage(String(chainId))
    await expect.poll(() => directory.active(chainId)).toEqual([one])
    await store.save(other, 1, NO_LIMIT)
    listener.onMissed()
    await expect.poll(() => directory.active(chainId)).toEqual([one, other])
  })

  test('is logged when it has removed a solver', async () => {
    await store.save(one, 1, NO_LIMIT)
    const { directory, listener, texts } = await openDirectory(store)
    await store.remove(one, 2)
    listener.onMessage(String(chainId))
    await expect.poll(() => directory.active(chainId)).toEqual([])
    expect(texts()).toEqual([removed])
  })
})

test('a removal is logged once when its reload fails and is repeated', async () => {
  await store.save(one, 1, NO_LIMIT)
  let failures = 0
  const faulty: SolverStore = {
    ...store,
    readAll: (...args) => (failures-- > 0 ? Promise.reject(new Error('down')) : store.readAll(...args)),
  }
  const { directory, texts } = await openDirectory(faulty)
  failures = 3
  const removal = directory.change(chainId, () => store.remove(one, 2))
  await expect(removal).rejects.toThrow('down')
  expect(directory.active(chainId)).toEqual([one])
  await expect.poll(() => directory.active(chainId)).toEqual([])
  await expect
    .poll(texts)
    .toEqual([
      'the changes of other replicas could not be read',
      removed,
      'the changes of other replicas are read again',
    ])
})

test('concurrent changes and reloads never show an older list after a newer one', async () => {
  let count = 0
  const pauses = [3, 0, 5, 1, 0, 2, 4]
  const pause = () => new Promise((resolve) => setTimeout(resolve, pauses[count % pauses.length]))
  const slow: SolverStore = {
    ...store,
    removeBlocked: async () => [],
    // The answer comes late, so the list has changed since.
    async readAll() {
      const read = Array.from({ length: count }, (_, index) => solver(index))
      await pause()
      return read
    },
  }
  const { directory, listener } = await openDirectory(slow)
  const sizes: number[] = []
  const watch = setInterval(() => sizes.push(directory.active(chainId).length), 0)
  const change = () =>
    directory.change(chainId, async () => {
      await pause()
      return ++count
    })
  await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * 2))
      if (index % 3 === 0) listener.onMessage(String(chainId))
      const number = await change()
      expect(directory.active(chainId).length).toBeGreaterThanOrEqual(number)
    }),
  )
  clearInterval(watch)
  expect(sizes).toEqual([...sizes].sort((first, second) => first - second))
  expect(directory.active(chainId)).toHaveLength(40)
})
