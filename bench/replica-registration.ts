import { setTimeout as delay } from 'node:timers/promises'
import { signedRegistration, signedUnregistration, startSolver } from '../test/support/solvers/solver.js'
import { benchAccount } from './bench-accounts.js'
import type { Result } from './benchmark.js'
import type { BuiltReplicas } from './built-replicas.js'
import type { BuiltService } from './built-service.js'
import { postJson } from './callers.js'
import { quantile } from './load.js'
import { rowOf } from './replica-rows.js'
import type { SolverFixture } from './solver-fixture.js'

const SAMPLES = 100
const PAUSE_MS = 1
const MAX_WAIT_MS = 10_000

/**
 * How soon the other replicas ask a new solver.
 * @param solver number of a bonded solver that is not registered
 */
export async function measureRegistration(
  fixture: SolverFixture,
  fleet: BuiltReplicas,
  solver: number,
): Promise<Result> {
  const account = benchAccount(solver)
  const { chainId } = fixture.chain
  const [first, ...others] = fleet.replicas()
  const url = `${first?.url}/v1/${chainId}/solvers`
  const asks = await startAsking(fixture, solver, others)
  const times: number[] = []
  try {
    for (let sample = 0; sample < SAMPLES; sample++) {
      const body = await signedRegistration(account, { endpointUrl: asks.endpointUrl })
      const askedByAll = asks.nextByAll()
      await postJson(`${url}/register`, body)
      const registeredAt = performance.now()
      // The response may come later than another replica's request.
      times.push(Math.max(0, (await askedByAll) - registeredAt))
      const request = await signedUnregistration(account)
      const answer = await fetch(`${url}/${account.address}`, {
        method: 'DELETE',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request),
      })
      if (!answer.ok) throw new Error(await answer.text())
      await asks.untilNobodyAsks()
    }
  } finally {
    await asks.stop()
  }
  const what = 'from the answer to a registration to a quote of every other replica'
  return {
    rows: [rowOf('registration', what, { times })],
    findings: [{ name: `${what}: p99, ms`, value: quantile(times, 0.99), atMost: 100 }],
  }
}

/**
 * Requests quotes from replicas all the time, each for an amount of its own, and records when they ask the
 * solver.
 */
async function startAsking(fixture: SolverFixture, number: number, replicas: readonly BuiltService[]) {
  const solver = await startSolver(fixture.chain, benchAccount(number), async (ask, { quoteFor, sign }) => {
    onAsk(ask.amount)
    return sign(quoteFor(ask))
  })
  const amounts = replicas.map((_, index) => String(1_000_000 + index))
  const isLeft = new Map<string, boolean>()
  let missing = new Set<string>()
  let onAll = () => {}
  let isOver = false

  function onAsk(amount: string): void {
    missing.delete(amount)
    if (missing.size === 0) onAll()
  }

  async function askOn(url: string, amount: string): Promise<void> {
    const body = JSON.stringify({ ...fixture.quoteRequest, amount })
    const headers = { 'content-type': 'application/json' }
    while (!isOver) {
      const answer = await fetch(url, { method: 'POST', headers, body })
      await answer.arrayBuffer()
      isLeft.set(amount, answer.ok)
      await delay(PAUSE_MS)
    }
  }

  const asking = replicas.map(({ url }, index) =>
    askOn(`${url}/v1/${fixture.chain.chainId}/quote`, amounts[index] ?? ''),
  )
  return {
    endpointUrl: solver.endpointUrl,
    /** Resolves with the time when every replica has asked, from now on. */
    nextByAll(): Promise<number> {
      missing = new Set(amounts)
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`not asked: ${[...missing]}`)), MAX_WAIT_MS)
        onAll = () => {
          clearTimeout(timer)
          resolve(performance.now())
        }
      })
    },
    async untilNobodyAsks(): Promise<void> {
      while (amounts.some((amount) => isLeft.get(amount) !== false)) await delay(PAUSE_MS)
    },
    async stop() {
      isOver = true
      await Promise.all(asking)
      await solver.close()
    },
  }
}
