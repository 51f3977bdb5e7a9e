import { computed, effect, signal } from '@preact/signals'
import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { chainService } from './api.js'
import { isVisible } from './clock.js'
import { openings } from './events.js'
import { type Failure, toFailure } from './failure.js'
import { retryPause } from './request-times.js'
import { hrefTo, type PageName, route } from './route.js'
import { learnToken } from './tokens/tokens.js'

/** A chain that was read within this time is not read again because the stream of events was interrupted. */
const KEEP_MS = 10_000
export const chains = signal<readonly Chain[] | undefined>(undefined)
export const chainsFailure = signal<Failure | undefined>(undefined)

/** The chain that the page shows: that of the URL, or the first one. Undefined when the instance does not serve that of the URL. */
export const chain = computed(() => {
  const wanted = route.value.query.get('chain')
  const all = chains.value ?? []
  return wanted === null ? all[0] : all.find(({ chainId }) => String(chainId) === wanted)
})

/** Its id alone, which changes less often than the rest. */
export const chainIdHere = computed(() => chain.value?.chainId)

/** What people call a chain. */
export function chainName(chainId: number | bigint): string {
  return chains.value?.find((each) => each.chainId === BigInt(chainId))?.name || `Chain ${chainId}`
}

/** A page of the chain's explorer; undefined when the instance knows none. */
export function explorerHref(
  chainId: number | bigint,
  kind: 'tx' | 'address',
  id: string,
): string | undefined {
  const url = chains.value?.find((each) => each.chainId === BigInt(chainId))?.explorerUrl
  return url !== undefined && /^https?:\/\//.test(url) ? `${url}/${kind}/${id}` : undefined
}

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

/** Reads the chains at first, and again after the stream of events was interrupted. */
export function followChains(): void {
  let isWanted = true
  let isReading = false
  let readAt = 0
  let failures = 0
  const read = async () => {
    if (!isWanted || isReading || !isVisible.peek()) return
    isReading = true
    isWanted = false
    try {
      await readChains()
      readAt = Date.now()
      failures = 0
    } catch {
      isWanted = true
      setTimeout(read, retryPause(++failures))
    } finally {
      isReading = false
    }
  }
  effect(() => {
    if (openings.value > 1 && Date.now() - readAt > KEEP_MS) isWanted = true
    if (isVisible.value) void read()
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
