import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { NO_ENDPOINT } from '../../../packages/protocol/src/solvers/solver.js'
import { createSolverStore } from '../../../src/store/solvers/solver-store.js'
import { DURABLE_DATABASES, type TestDatabase } from '../../store/databases.js'
import { solver } from '../../store/solvers/solver-samples.js'
import {
  bondKey,
  CHAIN_IDS,
  CHECK_MS,
  newWorld,
  openReplica,
  PLACE_MS,
  unavailable,
} from './session-harness.js'
import { createSessionModel, type Failure } from './session-model.js'

const SEED = 20_261_123
const RUNS = 150
/** Fewer than the solvers, so that places are lost to others. */
const MAX_SOLVERS = 2

type Move =
  | {
      readonly kind: 'connect'
      readonly number: number
      readonly chainIds: readonly number[]
      readonly failure: Failure | undefined
    }
  | {
      readonly kind: 'disconnect'
      readonly number: number
      readonly chainIds: readonly number[]
      readonly isOlder: boolean
    }
  | { readonly kind: 'register' | 'unregister'; readonly number: number; readonly chainId: number }
  | {
      readonly kind: 'setBonded'
      readonly number: number
      readonly chainId: number
      readonly isBonded: boolean
    }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'restart' }

const number = fc.constantFrom(1, 2, 3)
const chainId = fc.constantFrom(...CHAIN_IDS)
const chainIds = fc.constantFrom([1], [2], [2, 1])
const failure = fc.option(fc.record({ at: fc.constantFrom(1, 2), isStored: fc.boolean() }), {
  nil: undefined,
  freq: 2,
})
const weighted = (weight: number, arbitrary: fc.Arbitrary<Move>) => ({ weight, arbitrary })
const move: fc.Arbitrary<Move> = fc.oneof(
  weighted(8, fc.record({ kind: fc.constant('connect'), number, chainIds, failure })),
  weighted(5, fc.record({ kind: fc.constant('disconnect'), number, chainIds, isOlder: fc.boolean() })),
  weighted(4, fc.record({ kind: fc.constantFrom('register', 'unregister'), number, chainId })),
  weighted(3, fc.record({ kind: fc.constant('setBonded'), number, chainId, isBonded: fc.boolean() })),
  weighted(3, fc.record({ kind: fc.constant('pass'), ms: fc.constantFrom(CHECK_MS, PLACE_MS + CHECK_MS) })),
  weighted(1, fc.record({ kind: fc.constant('restart') })),
)

/** Plays moves on a service and on the model. */
async function play(on: TestDatabase, moves: readonly Move[]): Promise<void> {
  const world = newWorld()
  const model = createSessionModel(MAX_SOLVERS)
  let sessionCount = 0
  const sessionIds = new Map<number, string[]>()
  let timestamp = 0
  let replica = await start()

  async function start() {
    const { database, coordination, close } = await on.open()
    await createSolverStore(database, coordination).endAllSessions(world.clock.now())
    const opened = await openReplica({ database, coordination }, world, MAX_SOLVERS)
    const stop = async () => {
      await opened.close()
      await close()
    }
    return { ...opened, stop }
  }

  const registered = () => {
    const keys = CHAIN_IDS.map((id) =>
      replica.directory.registered(id).map(({ address }) => bondKey(id, address)),
    )
    return keys.flat().sort()
  }

  const active = () => {
    const views = CHAIN_IDS.map((id) =>
      replica.directory
        .active(id)
        .map(
          ({ address, endpointUrl, session }) =>
            `${bondKey(id, address)} ${endpointUrl !== NO_ENDPOINT} ${session?.id}`,
        ),
    )
    return views.flat().sort()
  }

  /** Fails the write of a session that the failure names. */
  function failsAs(failing: Failure | undefined, isStored: boolean) {
    let writes = 0
    return (method: string) => {
      if (method !== 'saveSession') return
      writes++
      if (writes === failing?.at && failing.isStored === isStored) throw unavailable()
    }
  }

  async function connect({ number, chainIds, failure }: Extract<Move, { kind: 'connect' }>) {
    const sessionId = `session ${++sessionCount}`
    sessionIds.set(number, [sessionId, ...(sessionIds.get(number) ?? [])])
    world.beforeWrite = failsAs(failure, false)
    world.afterWrite = failsAs(failure, true)
    const { address, name } = solver(number)
    const reason = await replica.sessions.connect({ sessionId, address, name, chainIds }).then(
      () => undefined,
      (error) => error.reason,
    )
    expect(reason).toBe(model.connect(number, chainIds, sessionId, world.clock.now(), failure))
  }

  async function disconnect({ number, chainIds, isOlder }: Extract<Move, { kind: 'disconnect' }>) {
    const sessionId = sessionIds.get(number)?.[isOlder ? 1 : 0] ?? 'none'
    const ending = replica.sessions.disconnect(sessionId, solver(number).address, chainIds)
    model.disconnect(number, chainIds, sessionId, world.clock.now())
    expect(active()).toEqual(model.active())
    await ending
  }

  async function playOne(each: Move): Promise<void> {
    switch (each.kind) {
      case 'connect':
        return connect(each)
      case 'disconnect':
        return disconnect(each)
      case 'pass':
        await world.clock.advance(each.ms)
        model.purge(world.clock.now())
        return expect.poll(registered).toEqual(model.registered())
      case 'restart':
        await replica.stop()
        model.restart(world.clock.now())
        replica = await start()
        return
      default:
        return changeRegistration(each)
    }
  }

  async function changeRegistration(each: Extract<Move, { chainId: number }>): Promise<void> {
    const { kind, number, chainId } = each
    const { stored, directory } = replica
    const registration = solver(number, { chainId })
    const key = bondKey(chainId, registration.address)
    const change = (write: () => Promise<unknown>) => directory.change(chainId, write)
    if (kind === 'register' && model.register(number, chainId))
      await change(() => stored.save(registration, ++timestamp, MAX_SOLVERS))
    if (kind === 'unregister' && model.unregister(number, chainId))
      await change(() => stored.remove(registration, ++timestamp))
    if (kind !== 'setBonded') return
    model.setBonded(number, chainId, each.isBonded)
    if (each.isBonded) world.unbonded.delete(key)
    else world.unbonded.add(key)
    await change(() => stored.setBonded(registration, each.isBonded, world.clock.now()))
  }

  for (const each of moves) {
    await playOne(each)
    expect([registered(), active()]).toEqual([model.registered(), model.active()])
  }
  await replica.stop()
}

describe.each(DURABLE_DATABASES)('the model of sessions %s', (_where, kind) => {
  const create = kind()

  test('has the same solvers as the service after random moves', async () => {
    const moves = fc.array(move, { minLength: 20, maxLength: 60, size: 'max' })
    await fc.assert(
      fc.asyncProperty(moves, async (some) => play(await create(), some)),
      { seed: SEED, numRuns: RUNS },
    )
  })
})
