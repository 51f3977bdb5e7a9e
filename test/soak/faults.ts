import { setTimeout as pause } from 'node:timers/promises'
import type { Faults } from '../support/faults/chaos-proxy.js'
import { type Lies, lie } from '../support/faults/lying-node.js'
import type { Replica } from '../support/replicas/replica-processes.js'
import type { ScenarioContext } from './scenario.js'

/** A fault that the service must survive. `run` starts it, and resolves when it is over. */
export interface Fault {
  readonly name: string
  run(scenario: ScenarioContext): Promise<unknown>
}

const LONG_MS = 5000
/** Longer than the leader of a chain may be silent. */
const FREEZE_MS = 7000
const MAX_DEPTH = 7
const REORGANISATIONS = 3
/** Faults for a part of the calls of a node. */
const FLAKY: Faults = {
  unavailable: 0.2,
  disconnect: 0.05,
  error: 0.02,
  stale: 0.05,
  lag: 3,
  swallowHead: 0.3,
}
const BEHIND: Faults = { stale: 1, lag: 4 }
const SILENT: Faults = { hang: 1 }
const AWAY: Faults = { unavailable: 1, disconnect: 1 }

/** Applies faults to nodes for a while. */
function nodeFault(name: string, faults: Faults, which: readonly number[]): Fault {
  return {
    name,
    async run({ nodes }) {
      const faulty = which.flatMap((index) => nodes[index]?.faults ?? [])
      for (const node of faulty) node.set(faults)
      await pause(LONG_MS)
      for (const node of faulty) node.calm()
      // A call that hangs would hang for its whole timeout.
      for (const node of faulty) node.dropWebSockets()
    },
  }
}

/**
 * Makes the first node return wrong data for a while. It has no receipts that could prove its answers wrong.
 */
function lieOfOneNode(name: string, lies: Lies): Fault {
  return {
    name,
    async run({ nodes: [first] }) {
      if (first === undefined) return
      lie(first.answers, { receipts: false, ...lies })
      await pause(LONG_MS)
      first.answers.intercept()
      first.answers.forgetCalls()
    },
  }
}

async function restart(replica: Replica, end: () => Promise<unknown>): Promise<void> {
  await end()
  await replica.start()
}

/** All faults of a soak, each round in another order. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'the leader of the chain is killed',
    async run({ fleet }) {
      const leader = await fleet.leader()
      await restart(leader, () => leader.kill())
    },
  },
  {
    name: 'the leader of the chain is frozen for 7 s',
    async run({ fleet }) {
      const leader = await fleet.leader()
      leader.freeze()
      await pause(FREEZE_MS)
      leader.thaw()
    },
  },
  {
    name: 'a replica is restarted',
    async run({ fleet, random }) {
      const replica = random.pick(fleet.replicas as [Replica, ...Replica[]])
      await restart(replica, () => replica.stop())
    },
  },
  {
    name: 'PostgreSQL is killed',
    async run({ postgres }) {
      await postgres.kill()
      await postgres.restart()
    },
  },
  {
    name: 'PostgreSQL cannot be reached for 5 s',
    async run({ link }) {
      link.cut()
      await pause(LONG_MS)
      link.restore()
    },
  },
  {
    name: 'the chain is reorganised three times',
    async run({ reorganise, random }) {
      for (let time = 0; time < REORGANISATIONS; time++) {
        const depth = random.integer(1, MAX_DEPTH)
        await reorganise({ depth, events: depth, longerBy: random.integer(0, 2) })
      }
    },
  },
  nodeFault('both nodes are flaky for 5 s', FLAKY, [0, 1]),
  nodeFault('the first node is 4 blocks late for 5 s', BEHIND, [0]),
  nodeFault('the first node is silent for 5 s', SILENT, [0]),
  nodeFault('no node answers for 5 s', AWAY, [0, 1]),
  lieOfOneNode('the first node omits all logs for 5 s', { logs: () => [] }),
  lieOfOneNode('the first node omits half of the logs for 5 s', {
    logs: (logs) => logs.slice(0, Math.floor(logs.length / 2)),
  }),
  lieOfOneNode('the first node returns invented blocks for 5 s', {
    header: (header) => ({ ...header, hash: `0x${'ab'.repeat(32)}` }),
  }),
  {
    name: 'all WebSockets to a node are dropped',
    async run({ nodes }) {
      for (const { faults } of nodes) faults.dropWebSockets()
    },
  },
  {
    name: 'the chain is reorganised while the first node is late',
    async run({ nodes, reorganise, random }) {
      const first = nodes[0]?.faults
      first?.set(BEHIND)
      await reorganise({ depth: random.integer(1, MAX_DEPTH), events: 4, longerBy: 1 })
      await pause(LONG_MS)
      first?.calm()
    },
  },
]
