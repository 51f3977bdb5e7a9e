import type { AppOverrides } from '../../../src/app/app.js'
import type { TestChain } from '../chain/chain.js'
import { environmentFor, startService } from './service.js'

type Chain = Pick<TestChain, 'chainId' | 'devnet' | 'contracts'>

/** The variables for a service of several chains with short poll intervals. */
export function environmentForAll(chains: readonly Chain[]): Record<string, string> {
  const all = chains.map((chain) => ({
    ...environmentFor(chain),
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
  }))
  const ids = chains.map(({ chainId }) => chainId)
  return Object.assign({}, ...all, { SUPPORTED_CHAINS: ids.join(',') })
}

/** A service of several chains that polls them often. */
export function startEventService(
  chains: readonly [Chain, ...Chain[]],
  environment: Record<string, string> = {},
  overrides: AppOverrides = {},
) {
  return startService(chains[0], { ...environmentForAll(chains), ...environment }, overrides)
}
