import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import type { ClusterBus, TopicListener } from '../../../src/cluster/cluster.js'
import { createSolverDirectory } from '../../../src/solvers/registry/solver-directory.js'
import type { SolverStore } from '../../../src/store/solvers/solver-store.js'
import { solver } from '../../store/solvers/solver-samples.js'
import { only } from '../../support/only.js'

/** The directory of one replica over a store, with its log. `listener` receives the messages of other replicas. */
export async function openDirectory(store: SolverStore) {
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const listeners: TopicListener[] = []
  const cluster: ClusterBus = {
    listen: (_topic, listener) => void listeners.push(listener),
    publish() {},
  }
  const config = { chains: [{ chainId: solver(1).chainId }] }
  const instance = { stores: { solvers: store }, cluster }
  const directory = await createSolverDirectory(only({ config, instance, clock: systemClock, log }))
  onTestFinished(directory.close)
  const [listener] = listeners
  if (listener === undefined) throw new Error('the directory does not listen')
  const texts = () => lines.map(({ msg, solver: of }) => [msg, of].filter(Boolean).join(': '))
  return { directory, listener, texts }
}
