import { computed, effect, signal } from '@preact/signals'
import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { BASE_URL, chainService } from './api.js'
import { isReachable, isVisible, reachedAt } from './clock.js'
import { connection } from './events.js'
import { type Failure, toFailure } from './failure.js'
import { hrefTo, type PageName, route } from './route.js'
import { learnToken } from './tokens.js'

/** The state of a chain as `/health` reports it. */
export interface ChainHealth {
  readonly chainId: number
  readonly status: 'ok' | 'syncing' | 'down'
  readonly headBlock?: number
  /** Age of the head block. */
  readonly lagMs?: number
}

const HEALTH_MS = 10_000
const HEALTH_TIMEOUT_MS = 5000
const CHAINS_MS = 60_000
const RETRY_MS = 3000

export const chains = signal<readonly Chain[] | undefined>(undefined)
export const chainsFailure = signal<Failure | undefined>(undefined)
export const health = signal<readonly ChainHealth[]>([])

/** The chain that the page shows: that of the URL, or the first one. */
export const chain = computed(() => {
  const wanted = Number(route.value.query.get('chain') ?? Number.NaN)
  const all = chains.value ?? []
  return all.find(({ chainId }) => Number(chainId) === wanted) ?? all[0]
})

/** Links to a place on the chain that the page shows. An instance of one chain needs no id in its links. */
export function hrefHere(
  page: PageName,
  id?: string,
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  return hrefTo(page, id, { chain: chainParameter(chain.value), ...query })
}

/** As `hrefHere`, on another chain. */
export function hrefOn(chainId: number | bigint, page: PageName, id = ''): string {
  return hrefTo(page, id, { chain: chainParameter({ chainId: BigInt(chainId) }) })
}

function chainParameter(shown: Pick<Chain, 'chainId'> | undefined): number | undefined {
  const first = chains.value?.[0]
  return shown === undefined || shown.chainId === first?.chainId ? undefined : Number(shown.chainId)
}

const isLost = computed(() => connection.value.state === 'lost')

/** Keeps the chains and their health up to date while the tab can be seen. A change of the connection asks again at once. */
export function followChains(): void {
  effect(() => {
    isLost.value
    if (!isVisible.value) return
    const ends = [repeat(readChains, CHAINS_MS), repeat(readHealth, HEALTH_MS)]
    return () => {
      for (const end of ends) end()
    }
  })
}

async function readChains(): Promise<void> {
  try {
    const answer = await chainService.listChains({})
    chains.value = answer.chains
    chainsFailure.value = undefined
    for (const { chainId, bondToken } of answer.chains)
      if (bondToken) learnToken(Number(chainId), { ...bondToken, source: 'instance' })
  } catch (thrown) {
    chainsFailure.value = toFailure(thrown)
    throw thrown
  }
}

async function readHealth(): Promise<void> {
  try {
    const response = await fetch(new URL('health', BASE_URL), {
      signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS),
    })
    const body = (await response.json()) as { chains: readonly ChainHealth[] }
    health.value = body.chains
    isReachable.value = true
    reachedAt.value = Date.now()
  } catch (error) {
    isReachable.value = false
    // What is not known now is not shown as if it were.
    health.value = []
    throw error
  }
}

/** @returns ends it */
function repeat(task: () => Promise<void>, ms: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isEnded = false
  const run = async () => {
    const pause = await task().then(
      () => ms,
      () => RETRY_MS,
    )
    if (!isEnded) timer = setTimeout(run, pause)
  }
  void run()
  return () => {
    isEnded = true
    clearTimeout(timer)
  }
}
