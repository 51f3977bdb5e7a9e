import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NO_ENDPOINT } from '../../../packages/protocol/src/solvers/solver.js'
import { createSolverStore } from '../../../src/store/solvers/solver-store.js'
import { sqliteAt } from '../../store/databases.js'
import { solver } from '../../store/solvers/solver-samples.js'
import { rounds } from '../../support/rounds.js'
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
/** Fewer than the solvers, so that places are lost to others. */
const MAX_SOLVERS = 2
/** After it a write that has failed is repeated. */
const RETRY_MS = 1000

const number = fc.constantFrom(1, 2, 3)
const chainId = fc.constantFrom(...CHAIN_IDS)
const SOME_CHAINS: readonly number[][] = [[1], [2], [2, 1]]
const chainIds = fc.constantFrom(...SOME_CHAINS)
const failure = fc.option(fc.record({ at: fc.constantFrom(1, 2), isStored: fc.boolean() }), {
  nil: undefined,
  freq: 2,
})
const kind = <K extends string>(name: K) => fc.constant(name)
const move = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: kind('connect'), number, chainIds, failure }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: kind('disconnect'), number, chainIds, isOlder: fc.boolean(), failure }),
  },
  { weight: 3, arbitrary: fc.record({ kind: kind('register'), number, chainId }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('setBonded'), number, chainId, isBonded: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: kind('pass'), ms: fc.constantFrom(CHECK_MS, PLACE_MS + CHECK_MS) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: kind('restart') }) },
)
type Move = typeof move extends fc.Arbitrary<infer M> ? M : never
type Of<K extends Move['kind']> = Extract<Move, { kind: K }>

/** Plays moves on a service, whose database fails as they say, and on the model. */
async function play(moves: readonly Move[]): Promise<void> {
  const world = newWorld()
  const model = createSessionModel(MAX_SOLVERS)
  const { database, coordination, close } = await sqliteAt(':memory:').open()
  const sessionsOf = new Map<number, string[]>()
  let sessionCount = 0
  let timestamp = 0
  let replica = await start()

  async function start() {
    await createSolverStore(database, coordination).endAllSessions(world.clock.now())
    return openReplica({ database, coordination }, world, MAX_SOLVERS)
  }

  const list = (view: (id: number) => readonly string[]) => CHAIN_IDS.flatMap(view).sort()
  const registered = () =>
    list((id) => replica.directory.registered(id).map(({ address }) => bondKey(id, address)))
  const active = () =>
    list((id) =>
      replica.directory
        .active(id)
        .map(
          (each) => `${bondKey(id, each.address)} ${each.endpointUrl !== NO_ENDPOINT} ${each.session?.id}`,
        ),
    )

  /** Has one write of a kind fail. */
  function failAt(method: string, failing: Failure | undefined): void {
    const failsAs = (isStored: boolean) => {
      let writes = 0
      return (called: string) => {
        if (called === method && ++writes === failing?.at && failing.isStored === isStored)
          throw unavailable()
      }
    }
    world.beforeWrite = failsAs(false)
    world.afterWrite = failsAs(true)
  }

  async function connect({ number, chainIds, failure }: Of<'connect'>): Promise<void> {
    const sessionId = `session ${++sessionCount}`
    sessionsOf.set(number, [sessionId, ...(sessionsOf.get(number) ?? [])])
    failAt('saveSession', failure)
    const { address, name } = solver(number)
    const reason = await replica.sessions.connect({ sessionId, address, name, chainIds }).then(
      () => undefined,
      (error) => error.reason,
    )
    expect(reason).toBe(model.connect(number, chainIds, sessionId, world.clock.now(), failure))
  }

  async function disconnect({ number, chainIds, isOlder, failure }: Of<'disconnect'>): Promise<void> {
    const sessionId = sessionsOf.get(number)?.[isOlder ? 1 : 0] ?? 'none'
    failAt('endSession', failure)
    const ending = replica.sessions.disconnect(sessionId, solver(number).address, chainIds)
    model.disconnect(number, chainIds, sessionId, world.clock.now())
    expect(active()).toEqual(model.active())
    await ending
    await world.clock.advance(RETRY_MS)
    const left = await replica.stored.readAll()
    const ended = left.filter((each) => each.session?.id === sessionId && chainIds.includes(each.chainId))
    expect(ended).toEqual([])
  }

  async function changeSolver(each: Of<'register' | 'setBonded'>): Promise<void> {
    const { number, chainId } = each
    const { stored, directory } = replica
    const own = solver(number, { chainId })
    if (each.kind === 'setBonded') {
      model.setBonded(number, chainId, each.isBonded)
      if (each.isBonded) world.unbonded.delete(bondKey(chainId, own.address))
      else world.unbonded.add(bondKey(chainId, own.address))
      await directory.change(chainId, () => stored.setBonded(own, each.isBonded, world.clock.now()))
    } else if (model.register(number, chainId))
      await directory.change(chainId, () => stored.save(own, ++timestamp, MAX_SOLVERS))
  }

  async function playOne(each: Move): Promise<void> {
    if (each.kind === 'connect') return connect(each)
    if (each.kind === 'disconnect') return disconnect(each)
    if (each.kind === 'register' || each.kind === 'setBonded') return changeSolver(each)
    if (each.kind === 'pass') {
      await world.clock.advance(each.ms)
      model.purge(world.clock.now())
      // After what the clock has begun.
      for (const id of CHAIN_IDS) await replica.directory.change(id, async () => {})
      return
    }
    await replica.close()
    model.restart(world.clock.now())
    replica = await start()
  }

  for (const each of moves) {
    await playOne(each)
    expect([registered(), active()]).toEqual([model.registered(), model.active()])
  }
  await replica.close()
  await close()
}

test('the directory lists what a model of the sessions has, after any moves and failures of the database', async () => {
  const moves = fc.array(move, { minLength: 20, maxLength: 60, size: 'max' })
  await fc.assert(fc.asyncProperty(moves, play), { seed: SEED, numRuns: rounds(150, 10) })
})
