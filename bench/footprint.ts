import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../test/support/free-port.js'
import type { Benchmark } from './benchmark.js'
import { quantile } from './load.js'
import { heapInUse, residentBytes } from './process-memory.js'
import { type SolverFixture, startSolverFixture } from './solver-fixture.js'

const STARTS = 10
/** The number of solvers in the measured service. */
const SOLVER_STARTS = 3
const SETTLE_MS = 5000
const SOLVERS = 100
/** Registered before, so that code compiled for them is not counted. */
const FIRST_SOLVERS = 50

/** The resources of the service before its first request. */
export const footprint: Benchmark = {
  name: 'footprint',
  about:
    'Time from the start of the process to the first 200 from /health, memory (RSS) 5 s later, and memory per solver.',
  async collectMetrics() {
    const fixture = await startSolverFixture(SOLVERS)
    try {
      const startsMs: number[] = []
      const idleBytes: number[] = []
      for (let start = 0; start < STARTS; start++) {
        const figures = await startOnce(fixture)
        startsMs.push(figures.startMs)
        idleBytes.push(figures.idleBytes)
      }
      const perSolver: number[] = []
      for (let start = 0; start < SOLVER_STARTS; start++) perSolver.push(await bytesPerSolver(fixture))
      const figures = {
        'start, median': ms(quantile(startsMs, 0.5)),
        'start, longest': ms(Math.max(...startsMs)),
        'idle memory, median': `${megabytes(quantile(idleBytes, 0.5))} MB`,
        'idle memory, most': `${megabytes(Math.max(...idleBytes))} MB`,
        'heap per registered solver': `${Math.round(quantile(perSolver, 0.5) / 100) / 10} KB`,
      }
      return {
        rows: Object.entries(figures).map(([figure, value]) => ({ figure, value })),
        findings: [
          { name: 'start to first /health, ms', value: Math.round(quantile(startsMs, 0.5)), atMost: 400 },
          { name: 'idle memory, MB', value: megabytes(quantile(idleBytes, 0.5)), atMost: 110 },
        ],
      }
    } finally {
      await fixture.stop()
    }
  },
}

async function startOnce(fixture: SolverFixture): Promise<{ startMs: number; idleBytes: number }> {
  const start = performance.now()
  const service = await fixture.startService()
  try {
    const { status } = await fetch(`${service.url}/health`)
    if (status !== 200) throw new Error(`/health is ${status}`)
    const startMs = performance.now() - start
    await delay(SETTLE_MS)
    return { startMs, idleBytes: residentBytes(service.pid) }
  } finally {
    await service.stop()
  }
}

async function bytesPerSolver(fixture: SolverFixture): Promise<number> {
  const inspectorPort = await freePort()
  const service = await fixture.startService({
    MAX_SOLVERS_PER_CHAIN: String(SOLVERS),
    NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPort}`,
  })
  try {
    await fixture.register(service.url, 0, FIRST_SOLVERS)
    const before = await heapInUse(inspectorPort)
    await fixture.register(service.url, FIRST_SOLVERS, SOLVERS)
    return ((await heapInUse(inspectorPort)) - before) / (SOLVERS - FIRST_SOLVERS)
  } finally {
    await service.stop()
  }
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e5) / 10
}

function ms(value: number): string {
  return `${Math.round(value)} ms`
}
