import { effect, signal } from '@preact/signals'
import { BASE_URL } from './api.js'
import { isReachable, isVisible, now, reachedAt } from './clock.js'
import { isFollowing, onEvent } from './events.js'
import { healthDueAt } from './pacing.js'
import { usedAt } from './presence.js'

/** The state of a chain as `/health` reports it. */
export interface ChainHealth {
  readonly chainId: number
  readonly status: 'ok' | 'syncing' | 'down'
  readonly headBlock?: number
  /** Age of the head block when the instance answered. */
  readonly lagMs?: number
}

interface Health {
  readonly chains: readonly ChainHealth[]
  /** By chain id. */
  readonly activeSolvers: Readonly<Record<string, number>>
  /** Unix time in milliseconds. */
  readonly readAt: number
}

const TIMEOUT_MS = 5000

/** What the instance last said; undefined before its first answer, and while it does not answer. */
export const health = signal<Health | undefined>(undefined)

/** The state of a chain; undefined while it is not known. */
export function healthOf(chainId: number | bigint): ChainHealth | undefined {
  return health.value?.chains.find((each) => each.chainId === Number(chainId))
}

/**
 * Asks after the health while the tab can be seen: often while nothing else shows that the instance lives, and seldom while it
 * sends events of the chain. A person who comes back to it gets a fresh answer.
 */
export function followHealth(shownChainId: () => number | undefined): void {
  const eventAt = new Map<number, number>()
  let askedAt: number | undefined
  let failures = 0
  let lostAt: number | undefined
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
      reachedAt.value = Date.now()
    } catch {
      failures++
      // A slow answer is no loss while events come.
      if (Math.max(0, ...eventAt.values()) < askedAt) {
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
      askedAt = undefined
    })
  onEvent(({ chainId }) => void eventAt.set(chainId, Date.now()))
  let wasFollowing = false
  effect(() => {
    if (wasFollowing && !isFollowing.value && isVisible.value) lostAt = Date.now()
    wasFollowing = isFollowing.value
  })
  effect(() => {
    const at = now.value
    const lastUsedAt = usedAt.value
    if (!isVisible.value || isAsking) return
    const shownEventAt = eventAt.get(shownChainId() ?? Number.NaN)
    const signs = {
      askedAt,
      failures,
      eventAt: shownEventAt,
      isFollowing: isFollowing.peek(),
      lostAt,
      usedAt: lastUsedAt,
    }
    if (Math.max(at, Date.now()) >= healthDueAt(signs, chance)) void ask()
  })
}

async function readHealth(): Promise<Health> {
  const response = await fetch(new URL('health', BASE_URL), { signal: AbortSignal.timeout(TIMEOUT_MS) })
  const { chains, activeSolvers } = (await response.json()) as Omit<Health, 'readAt'>
  return { chains, activeSolvers, readAt: Date.now() }
}
