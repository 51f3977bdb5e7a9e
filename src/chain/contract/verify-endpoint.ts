import type { PublicClient } from 'viem'
import {
  ChainConfigError,
  describeConfigError,
} from '../../../packages/chain/src/contract/chain-config-error.js'
import {
  type VerifiedContract,
  verifyContract,
} from '../../../packages/chain/src/contract/verify-contract.js'
import type { Endpoint } from '../../../packages/chain/src/rpc-endpoint.js'
import type { Clock } from '../../../packages/protocol/src/clock.js'

import type { ChainConfig } from '../../config/config.js'
import type { Logger } from '../../telemetry/log.js'
import { createOptionalViews, type OptionalViews } from './optional-views.js'

/** Verifies that a chain's endpoints and its contract match the configuration. */
export interface EndpointVerifier {
  /**
   * Verifies an endpoint before the first read from it. Later calls do nothing. The first call verifies all endpoints.
   * Those that did not answer then are verified before their first use.
   * @throws ChainConfigError; ChainReadError and viem's errors when the endpoint fails
   */
  verify(endpoint: Endpoint): Promise<void>
  /** Verifies the chain of an endpoint, also when it was verified before. @throws as `verify` */
  verifyChain(endpoint: Endpoint): Promise<void>
  /** Has an endpoint verified again before the next read from it. @param error what it has failed with */
  forget(endpoint: Endpoint, error?: unknown): void
  /** Whether the endpoint has answered for another chain last. It gets no calls until it answers for this one. */
  isOfOtherChain(endpoint: Endpoint): boolean
  /**
   * Verifies the first endpoint that answers, and reads from it.
   * @param read gets the index of the endpoint too, for other clients of the same URLs
   * @throws ChainConfigError of an endpoint that answers, until the contract was read; otherwise the error of the last endpoint
   */
  readAny<T>(read: (client: PublicClient, index: number) => Promise<T>): Promise<T>
  /** The contract's values and its terms; undefined until an endpoint was verified. */
  readonly contract: (VerifiedContract & { readonly views: Pick<OptionalViews, 'terms'> }) | undefined
  close(): Promise<void>
}

interface EndpointVerifierOptions {
  readonly protocolName: string
  /** Called when the contract's values are known. */
  readonly onContract: () => void
  readonly clock: Clock
  readonly log: Logger
}

/** Builds the verifier of a chain's endpoints. */
export function createEndpointVerifier(
  config: ChainConfig,
  endpoints: readonly Endpoint[],
  options: EndpointVerifierOptions,
): EndpointVerifier {
  const { chainId } = config
  const { protocolName, onContract, log } = options
  const verified = new Set<Endpoint>()
  const ofOtherChain = new Set<Endpoint>()
  const hostOf = (endpoint: Endpoint) => new URL(config.rpcUrls[endpoints.indexOf(endpoint)] ?? '').host
  let unverified = endpoints
  let views: OptionalViews | undefined

  async function verifyChain(endpoint: Endpoint): Promise<void> {
    const place = endpoints.length > 1 ? `URL ${endpoints.indexOf(endpoint) + 1} ` : ''
    try {
      await verifyChainId(endpoint.client, chainId, place)
    } catch (error) {
      forget(endpoint, error)
      throw error
    }
    verified.add(endpoint)
    if (ofOtherChain.delete(endpoint))
      log.info({ chainId, endpoint: hostOf(endpoint) }, 'the endpoint serves the chain again')
  }

  function forget(endpoint: Endpoint, error?: unknown): void {
    verified.delete(endpoint)
    // Before that, a wrong endpoint is a mistake of the configuration, which ends the start.
    if (!(error instanceof ChainConfigError) || views === undefined || ofOtherChain.has(endpoint)) return
    ofOtherChain.add(endpoint)
    log.error(
      { chainId, endpoint: hostOf(endpoint), reason: describeConfigError(error) },
      'an endpoint serves another chain: it gets no calls until it serves this one',
    )
  }

  async function verify(endpoint: Endpoint): Promise<void> {
    const asked = unverified.length > 0 ? unverified : [endpoint]
    unverified = []
    const answers = await Promise.allSettled(asked.filter((one) => !verified.has(one)).map(verifyChain))
    const reasons = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
    const issue = reasons.find((reason) => reason instanceof ChainConfigError)
    if (issue !== undefined) throw issue
    if (!verified.has(endpoint)) throw reasons[0]
    if (views !== undefined) return
    const read = await verifyContract(endpoint.client, config, protocolName)
    const optional = createOptionalViews({ ...config, ...options, hasher: read.hasher, readAny })
    await optional.readOnce(endpoint.client)
    if (views !== undefined) return
    views = optional
    verifier.contract = { ...read, views }
    views.start()
    onContract()
  }

  async function readAny<T>(read: (client: PublicClient, index: number) => Promise<T>): Promise<T> {
    let failure: unknown
    for (const [index, endpoint] of endpoints.entries()) {
      try {
        await verify(endpoint)
        return await read(endpoint.client, index)
      } catch (error) {
        if (error instanceof ChainConfigError && views === undefined) throw error
        failure = error
      }
    }
    throw failure
  }

  const verifier: EndpointVerifier & { contract: EndpointVerifier['contract'] } = {
    contract: undefined,
    verify,
    verifyChain,
    forget,
    isOfOtherChain: (endpoint) => ofOtherChain.has(endpoint),
    readAny,
    close: async () => views?.close(),
  }
  return verifier
}

/**
 * Verifies that a node serves a chain.
 * @param place names the node where there are several, with a space after it
 * @throws ChainConfigError when it serves another chain; viem's errors when it does not answer
 */
export async function verifyChainId(
  client: Pick<PublicClient, 'getChainId'>,
  chainId: number,
  place = '',
): Promise<void> {
  const answer = await client.getChainId()
  if (answer !== chainId)
    throw new ChainConfigError(
      `RPC_URL_${chainId}`,
      `${place}answers for chain ${answer}, and not for ${chainId}`,
    )
}
