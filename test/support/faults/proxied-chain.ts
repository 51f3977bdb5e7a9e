import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { AppOverrides } from '../../../src/app/app.js'
import { createTraffic, type Traffic } from '../chain/event-traffic.js'
import { type ModelTestChain, startModelChain } from '../model-chain/start-model-chain.js'
import { startService, type TestService } from '../service/service.js'
import { type RpcProxy, startRpcProxy } from './rpc-proxy.js'

interface ProxiedChain {
  /** One for all tests of the file. */
  chain: ModelTestChain
  traffic: Traffic
  /** The node of the service. New for each test. */
  rpc: RpcProxy
  /** Undefined until it was started. */
  service: TestService
}

/**
 * Sets up the tests of a file: a chain with traffic, and for each test a node whose answers the test can change.
 * What `start` has started is closed after the test.
 */
export function useProxiedChain({ seed, pollIntervalMs = 50 }: { seed: number; pollIntervalMs?: number }) {
  const on = {} as ProxiedChain & { service?: TestService }

  beforeAll(async () => {
    on.chain = await startModelChain({ bonded: 0 })
    on.traffic = await createTraffic(on.chain, { seed })
  })
  afterAll(() => on.chain?.stop())
  beforeEach(async () => {
    on.rpc = await startRpcProxy(on.chain.devnet.rpcUrl)
  })
  afterEach(async () => {
    await on.service?.close()
    on.rpc.close()
  })

  /** Starts a service that reads the chain from the node of the test. */
  async function start(environment: Record<string, string> = {}, overrides?: AppOverrides): Promise<void> {
    const { chainId } = on.chain
    const variables = {
      [`RPC_URL_${chainId}`]: on.rpc.url,
      [`POLL_INTERVAL_MS_${chainId}`]: String(pollIntervalMs),
      ...environment,
    }
    on.service = await startService(on.chain, variables, overrides)
  }
  return Object.assign(on, { start })
}
