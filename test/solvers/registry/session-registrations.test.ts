import { describe, expect, test } from 'vitest'
import type { ServiceError } from '../../../packages/protocol/src/errors.js'
import { NO_ENDPOINT } from '../../../packages/protocol/src/solvers/solver.js'
import { createSolverLists } from '../../../src/store/operator/listed-solvers.js'
import { BOTH_DATABASES } from '../../store/databases.js'
import { solver } from '../../store/solvers/solver-samples.js'
import {
  bondKey,
  CHECK_MS,
  GRACE_MS,
  MIN_BOND,
  newWorld,
  openReplica,
  PLACE_MS,
  unavailable,
} from './session-harness.js'

const { address } = solver(1)
const BOTH_CHAINS = [1, 2]
const hello = (sessionId: string, changes = {}) => ({
  sessionId,
  address,
  name: 'Ada',
  chainIds: BOTH_CHAINS,
  ...changes,
})

describe.each(BOTH_DATABASES)('registrations by session %s', (_where, kind) => {
  const create = kind()

  async function start(maxSolversPerChain?: number) {
    const world = newWorld()
    const open = await (await create()).open()
    const replica = await openReplica(open, world, maxSolversPerChain)
    const { directory } = replica
    /** The sessions of the active solvers of both chains; `endpoint` for a solver without one. */
    const active = () =>
      BOTH_CHAINS.map((chainId) => directory.active(chainId).map(({ session }) => session?.id ?? 'endpoint'))
    const stored = async () =>
      (await replica.stored.readAll()).map(({ chainId, session }) => [chainId, session?.id]).sort()
    /** A write that has failed is repeated after a second. */
    const storedAfterRetry = async () => {
      await world.clock.advance(1000)
      return stored()
    }
    return { ...replica, ...open, world, active, storedSessions: stored, storedAfterRetry }
  }

  test('make a solver active on all its chains, with its free bond', async () => {
    const { sessions, active, freeBonds, directory } = await start()
    await sessions.connect(hello('a', { chainIds: [2, 1, 2] }))
    expect(active()).toEqual([['a'], ['a']])
    expect(freeBonds.of({ chainId: 2, address })).toBe(MIN_BOND)
    expect(directory.find({ chainId: 1, address })).toMatchObject({ name: 'Ada', endpointUrl: NO_ENDPOINT })
  })

  test.each([
    ['a chain that is not supported', { chainIds: [1, 3] }, 'CHAIN_NOT_SUPPORTED', /^Chain 3 .*: 1, 2/],
    ['an address that is blocked on one chain', {}, 'SOLVER_BLOCKED', /^Chain 2: /],
    ['a full chain', { address: solver(3).address }, 'SOLVER_LIMIT_REACHED', /^Chain 1: /],
    ['an insufficient bond', { address: solver(2).address }, 'BOND_INSUFFICIENT', /^Chain 2: /],
    [
      'an insufficient bond on its only chain',
      { address: solver(2).address, chainIds: [2] },
      'BOND_INSUFFICIENT',
      /^The solver/,
    ],
    ['a chain that does not answer', { address: solver(5).address, chainIds: [2] }, 'CHAIN_UNAVAILABLE', /./],
  ])('write nothing for %s', async (what, changes, reason, message) => {
    const { sessions, stored, storedSessions, world, database, coordination, directory } = await start(2)
    const { blocked } = createSolverLists(database, coordination)
    if (reason === 'SOLVER_BLOCKED') await blocked.add({ address, chainId: 2, listedAt: 0 })
    if (what === 'a full chain')
      for (const number of [1, 2]) await directory.change(1, () => stored.save(solver(number), 1, 2))
    world.unbonded.add(bondKey(2, solver(2).address))
    if (reason === 'CHAIN_UNAVAILABLE') world.unreachable.add(2)
    const before = await storedSessions()
    const error: ServiceError = await sessions.connect(hello('a', changes)).then(
      () => expect.unreachable(),
      (thrown) => thrown,
    )
    expect(error).toMatchObject({ reason, message: expect.stringMatching(message) })
    expect(await storedSessions()).toEqual(before)
  })

  test('look for a place before the bond, so that no bond is read on a full chain', async () => {
    const { sessions, stored, directory, world } = await start(1)
    await directory.change(1, () => stored.save(solver(2), 1, 1))
    world.unreachable.add(1).add(2)
    await expect(sessions.connect(hello('a'))).rejects.toMatchObject({ reason: 'SOLVER_LIMIT_REACHED' })
  })

  test('take the place of a solver that has lacked its bond for longer than the grace', async () => {
    const { sessions, active, world, stored, directory, lines } = await start(1)
    const old = { chainId: 1, address: solver(2).address }
    await sessions.connect(hello('old', { ...old, chainIds: [1] }))
    world.unbonded.add(bondKey(1, old.address))
    await directory.change(1, () => stored.setBonded(old, false, world.clock.now()))
    const newcomer = hello('a', { chainIds: [1] })
    await expect(sessions.connect(newcomer)).rejects.toMatchObject({ reason: 'SOLVER_LIMIT_REACHED' })
    world.clock.standStill(GRACE_MS)
    await expect(sessions.connect(newcomer)).rejects.toMatchObject({ reason: 'SOLVER_LIMIT_REACHED' })
    world.clock.standStill(GRACE_MS + 1)
    await sessions.connect(newcomer)
    expect(active()[0]).toEqual(['a'])
    expect(directory.registered(1)).toHaveLength(1)
    expect(lines).toEqual([
      'a solver is no longer registered',
      'a new solver has replaced one without a bond',
    ])
  })

  test('take no place of a solver that has its bond again, although no round has read that', async () => {
    const { sessions, active, world, stored, directory } = await start(1)
    const old = { chainId: 1, address: solver(2).address }
    await sessions.connect(hello('old', { ...old, chainIds: [1] }))
    await directory.change(1, () => stored.setBonded(old, false, world.clock.now()))
    world.clock.standStill(GRACE_MS + 1)
    const newcomer = sessions.connect(hello('a', { chainIds: [1] }))
    await expect(newcomer).rejects.toMatchObject({ reason: 'SOLVER_LIMIT_REACHED' })
    expect(active()[0]).toEqual(['old'])
  })

  describe('when the database fails', () => {
    test('and stays so, the undone session is not listed, and its end is stored later', async () => {
      const { sessions, active, world, storedSessions, storedAfterRetry, lines } = await start()
      let isUp = true
      world.afterWrite = (method) => {
        if (method === 'saveSession') isUp = false
      }
      world.beforeWrite = () => {
        if (!isUp) throw unavailable()
      }
      await expect(sessions.connect(hello('a'))).rejects.toMatchObject({ reason: 'DATABASE_UNAVAILABLE' })
      expect(active()).toEqual([[], []])
      expect(await storedSessions()).toEqual([[1, 'a']])
      isUp = true
      await expect.poll(storedAfterRetry).toEqual([[1, undefined]])
      expect(active()).toEqual([[], []])
      // The line comes after the write, which the poll may see first.
      await expect.poll(() => lines).toContain('the ends of sessions are stored again')
    })

    test('at the end of a session, the session is not listed, and its end is stored later', async () => {
      const { sessions, active, world, storedSessions, storedAfterRetry, directory, lines } = await start()
      await sessions.connect(hello('a'))
      let isUp = false
      world.beforeWrite = (method) => {
        if (!isUp && method === 'endSession') throw unavailable()
      }
      await sessions.disconnect('a', address, BOTH_CHAINS)
      await directory.change(1, async () => {})
      expect(active()).toEqual([[], []])
      expect(await storedSessions()).toEqual([
        [1, 'a'],
        [2, 'a'],
      ])
      isUp = true
      await expect
        .poll(async () => (await storedAfterRetry()).map(([, id]) => id))
        .toEqual([undefined, undefined])
      await directory.change(1, async () => {})
      expect(active()).toEqual([[], []])
      await expect
        .poll(() => lines)
        .toEqual(['the ends of sessions could not be stored', 'the ends of sessions are stored again'])
    })
  })
})

describe('the place of a solver without an endpoint', () => {
  const [[, kind]] = BOTH_DATABASES as [(typeof BOTH_DATABASES)[0]]
  const create = kind()
  const startSmall = async () => {
    const world = newWorld()
    const replica = await openReplica(await (await create()).open(), world, 1)
    return { ...replica, world, pass: world.clock.advance }
  }
  const one = hello('a', { chainIds: [1] })
  const other = hello('z', { chainIds: [1], address: solver(2).address })

  test('stays for five minutes after its session', async () => {
    const { sessions, directory, pass, lines } = await startSmall()
    await sessions.connect(one)
    await sessions.disconnect('a', address, [1])
    await pass(PLACE_MS)
    await sessions.disconnect('none', address, [1])
    await expect(sessions.connect(other)).rejects.toMatchObject({ reason: 'SOLVER_LIMIT_REACHED' })
    await pass(CHECK_MS)
    await expect.poll(() => directory.registered(1)).toEqual([])
    await expect
      .poll(() => lines)
      .toEqual(['a solver is no longer registered', 'a solver was removed: no session for five minutes'])
    await sessions.connect(other)
    await expect(sessions.connect(hello('b', { chainIds: [1] }))).rejects.toMatchObject({
      reason: 'SOLVER_LIMIT_REACHED',
    })
  })

  test.each([
    ['is not taken by a new solver', [], 0],
    ['stays for one that had it', ['a'], 1],
  ])('%s when its session fails at the second chain', async (_what, earlier, places) => {
    const { sessions, directory, world, pass } = await startSmall()
    for (const id of earlier) {
      await sessions.connect(hello(id))
      await sessions.disconnect(id, address, BOTH_CHAINS)
    }
    let writes = 0
    world.beforeWrite = (method) => {
      if (method === 'saveSession' && ++writes === 2) throw unavailable()
    }
    await expect(sessions.connect(hello('b'))).rejects.toMatchObject({ reason: 'DATABASE_UNAVAILABLE' })
    await pass(CHECK_MS)
    await pass(CHECK_MS)
    expect(BOTH_CHAINS.map((chainId) => directory.registered(chainId).length)).toEqual([places, places])
  })

  test('stays when the clock was an hour ahead for a moment', async () => {
    const { sessions, directory, pass, world } = await startSmall()
    await sessions.connect(one)
    await sessions.disconnect('a', address, [1])
    const { clock } = world
    clock.set(clock.now() + 3_600_000)
    await pass(CHECK_MS)
    clock.set(clock.now() - 3_600_000)
    await sessions.disconnect('none', address, [1])
    expect(directory.registered(1)).toMatchObject([{ address }])
    await pass(PLACE_MS)
    await expect.poll(() => directory.registered(1)).toEqual([])
  })

  test('goes to another solver when it is lost while the solver connects again', async () => {
    const { sessions, directory, world, stored } = await startSmall()
    await sessions.connect(one)
    await sessions.disconnect('a', address, [1])
    // The directory still lists the place that another replica has removed and given away.
    expect(await stored.removeEnded(1, world.clock.now() + 1)).toEqual([address])
    await stored.save(solver(2), 1, 1)
    expect(directory.find({ chainId: 1, address })).toBeDefined()
    await expect(sessions.connect(hello('c', { chainIds: [1] }))).rejects.toMatchObject({
      reason: 'SOLVER_LIMIT_REACHED',
    })
    expect((await stored.readAll()).map((each) => each.address)).toEqual([solver(2).address])
  })
})
