import { effect, signal } from '@preact/signals'
import { BASE_URL } from './api.js'
import { isReachable, isVisible, now } from './clock.js'
import { connection, isFollowing, reportedHealth } from './events.js'
import { healthDueAt } from './request-times.js'
import type { ChainHealth } from './stream-messages.js'

/** What `/health` answers, as far as the console uses it. */
interface HealthAnswer {
  readonly chains: readonly Omit<ChainHealth, 'activeSolvers'>[]
  /** By chain id. */
  readonly activeSolvers: Readonly<Record<string, number>>
}

const TIMEOUT_MS = 5000

/** What the instance last said of its chains; undefined before its first answer, and while it does not answer. */
const health = signal<readonly ChainHealth[] | undefined>(undefined)

/** The state of a chain; undefined while it is not known. */
export function healthOf(chainId: number | bigint): ChainHealth | undefined {
  return health.value?.find((each) => each.chainId === Number(chainId))
}

/** Takes the health from the stream of events. Asks after it while the tab can be seen and there is no stream. */
export function followHealth(): void {
  let askedAt: number | undefined
  let failures = 0
  let missedAt: number | undefined
  let chance = Math.random()
  let isAsking = false

  const ask = async () => {
    isAsking = true
    askedAt = Date.now()
    chance = Math.random()
    try {
      health.value = await readHealth()
      failures = 0
      isReachable.value = true
    } catch {
      failures++
      // A slow answer is no loss while messages come.
      if ((connection.peek().aliveAt ?? 0) < askedAt) {
        isReachable.value = false
        // What is not known now is not shown as if it were.
        health.value = undefined
      }
    } finally {
      isAsking = false
    }
  }

  // The browser has lost its network, or has it again.
  for (const change of ['offline', 'online'])
    addEventListener(change, () => {
      if (isVisible.peek() && !isAsking) void ask()
    })
  effect(() => {
    if (reportedHealth.value !== undefined) health.value = reportedHealth.value
  })
  effect(() => {
    const at = Math.max(now.value, Date.now())
    if (isFollowing.value || !isVisible.value) {
      missedAt = undefined
      failures = 0
      return
    }
    missedAt ??= at
    if (!isAsking && at >= healthDueAt({ askedAt, failures, missedAt }, chance)) void ask()
  })
}

async function readHealth(): Promise<ChainHealth[]> {
  const response = await fetch(new URL('health', BASE_URL), { signal: AbortSignal.timeout(TIMEOUT_MS) })
  const { chains, activeSolvers } = (await response.json()) as HealthAnswer
  return chains.map((chain) => ({ ...chain, activeSolvers: activeSolvers[chain.chainId] ?? 0 }))
}
