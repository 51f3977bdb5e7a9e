import { afterEach } from 'vitest'
import type { AppOverrides } from '../../../src/app/app.js'
import { createTraffic } from '../chain/event-traffic.js'
import { startModelChain } from '../model-chain/start-model-chain.js'
import { startService, type TestService } from '../service/service.js'
import { shared } from '../shared.js'

/**
 * Starts what the tests of a file share: a chain with traffic, and a node whose answers a test can change until its end.
 * What `start` has started is closed after the test.
 */
export async function startFaultyChain({ seed }: { seed: number }) {
  const chain = await shared(startModelChain({ bonded: 0 }))
  const node = await shared(chain.openNode())
  const traffic = await createTraffic(chain, { seed })
  const on = { chain, traffic, node, service: undefined as unknown as TestService, start }

  afterEach(async () => {
    await on.service?.close()
    node.setState('up')
    node.intercept()
  })

  /** Starts a service that reads the chain from the node of the test. */
  async function start(environment: Record<string, string> = {}, overrides?: AppOverrides): Promise<void> {
    const { chainId } = chain
    const variables = { [`RPC_URL_${chainId}`]: node.url, [`POLL_INTERVAL_MS_${chainId}`]: '50' }
    on.service = await startService(chain, { ...variables, ...environment }, overrides)
  }
  return on
}
