import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import type { Solver } from '../../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { ChainListener } from '../../../src/chain/chain-listeners.js'
import type { ClusterBus, TopicListener } from '../../../src/cluster/cluster.js'
import { startBondWatch } from '../../../src/solvers/bonds/bond-watch.js'
import type { RegistryContext } from '../../../src/solvers/registry/context.js'
import { solver } from '../../store/solvers/solver-samples.js'
import { createManualClock } from '../../support/manual-clock.js'
import { only } from '../../support/only.js'

const [one, other] = [solver(1), solver(2)]
const { chainId } = one
const INTERVAL_MS = 60_000
const DAY_MS = 86_400_000

/** The watch of a chain with two solvers. The test changes `node` and reads which bonds were asked for since. */
function start() {
  const clock = createManualClock()
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) })
  const node = { isUp: true, isLeader: true, total: 9n, provenMs: 0 }
  const removed: [Address, number][] = []
  let asked: Address[] = []
  let loads = 0
  let messages: Partial<TopicListener> = {}
  let onBonds = (_solvers: ReadonlySet<Address> | undefined) => {}
  let reset = () => {}
  const chain = {
    chainId,
    isLeader: () => node.isLeader,
    async readBond(address: Address) {
      asked.push(address)
      if (!node.isUp) throw new Error('no answer')
      return { registered: true, total: node.total, reserved: 0n, unstaking: 0n }
    },
    addListener(listener: Partial<ChainListener>) {
      onBonds = listener.onBonds ?? onBonds
      reset = listener.onReset ?? reset
    },
  }
  const solvers = {
    setBonded: async () => {},
    removeUnbonded: async ({ address }: Solver, before: number) => removed.push([address, before]) > 0,
  }
  const cluster: ClusterBus = {
    listen(_topic, listener) {
      messages = listener
    },
    publish() {},
  }
  const context = only<RegistryContext>({
    config: { minSolverBond: 1n, bondCheckIntervalMs: INTERVAL_MS },
    instance: { stores: { solvers }, cluster },
    directory: {
      registered: () => [one, { ...other, unbondedSince: 1 }],
      refresh() {},
      change: (_chainId: number, write: () => Promise<unknown>) => write(),
    },
    chains: new Map([[chainId, chain]]),
    clock,
    provenTime: () => node.provenMs,
    log,
  })
  const watch = startBondWatch(context, {
    totalOf: () => undefined,
    of: () => undefined,
    update: async () => {},
    updateRegistered: async () => {},
    load: async () => ++loads < 0,
  })
  onTestFinished(watch.close)
  const takeAsked = () => {
    const taken = asked
    asked = []
    return taken
  }
  return {
    watch,
    clock,
    pass: clock.advance,
    node,
    removed,
    lines,
    takeAsked,
    touch: (address: Address) => onBonds(new Set([address])),
    reset: () => reset(),
    loads: () => loads,
    messages: () => messages,
  }
}

const down = 'bonds could not be read or stored: the states of solvers stay the same'
const up = 'bonds are read and stored again'

test('a round that failed is repeated every second with all solvers, and logged once', async () => {
  const { node, lines, pass, takeAsked, touch } = start()
  await pass(0)
  expect(takeAsked()).toEqual([one.address, other.address])
  node.isUp = false
  touch(one.address)
  await pass(0)
  expect(takeAsked()).toEqual([one.address])
  await pass(2000)
  expect(takeAsked()).toHaveLength(4)
  node.isUp = true
  await pass(1000)
  expect(takeAsked()).toEqual([one.address, other.address])
  await pass(10_000)
  expect(takeAsked()).toEqual([])
  expect(lines).toEqual([down, up])
})

test('a replica that is no longer the leader reads no bonds, and does not log that it does', async () => {
  const { node, lines, pass, takeAsked, touch } = start()
  node.isUp = false
  touch(one.address)
  await pass(0)
  node.isLeader = false
  takeAsked()
  touch(one.address)
  await pass(INTERVAL_MS)
  expect(takeAsked()).toEqual([])
  expect(lines).toEqual([down])
})

test('the leader reads all bonds at the start, at every interval and when it has become the leader', async () => {
  const { pass, takeAsked, reset } = start()
  await pass(0)
  expect(takeAsked()).toEqual([one.address, other.address])
  await pass(INTERVAL_MS - 1)
  expect(takeAsked()).toEqual([])
  await pass(1)
  expect(takeAsked()).toEqual([one.address, other.address])
  reset()
  await pass(0)
  expect(takeAsked()).toEqual([one.address, other.address])
})

test('no bond is read after close', async () => {
  const { watch, clock, pass, node, takeAsked, touch } = start()
  node.isUp = false
  await pass(0)
  await watch.close()
  takeAsked()
  touch(one.address)
  await pass(2 * INTERVAL_MS)
  expect(takeAsked()).toEqual([])
  expect(clock.waiting).toBe(0)
})

test('a solver that has lacked its bond for 24 hours by the proven time is removed, and one with a bond is not', async () => {
  const { node, removed, lines, pass } = start()
  node.provenMs = DAY_MS + 2
  await pass(0)
  expect(removed).toEqual([])
  node.total = 0n
  node.provenMs = DAY_MS + 1
  await pass(INTERVAL_MS)
  expect(removed).toEqual([])
  node.provenMs = DAY_MS + 2
  await pass(INTERVAL_MS)
  expect(removed).toEqual([[other.address, 2]])
  expect(lines).toContain('a solver was removed: no bond for 24 hours')
})

test('the bonds that other replicas have read are loaded at the start, at each message, and after lost messages', async () => {
  const { loads, messages, pass } = start()
  await pass(0)
  expect(loads()).toBe(1)
  messages().onMessage?.(String(chainId))
  await expect.poll(loads).toBe(2)
  messages().onMissed?.()
  await expect.poll(loads).toBe(3)
})
