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
import type { ChainContext } from '../context.js'
import { createOptionalViews, type OptionalViews } from './optional-views.js'

/** Verifies that a chain's endpoints and its contract match the configuration. */
export type EndpointVerifier = Readonly<ReturnType<typeof createEndpointVerifier>>

/** Builds the verifier of a chain's endpoints. @param onKnown called once, when the contract's values are known */
export function createEndpointVerifier(context: ChainContext, onKnown: () => void) {
  const { config, protocolName, log } = context
  const { chainId } = config
  const { endpoints, order } = context.rpc
  const verified = new Set<Endpoint>()
  let unverified: readonly Endpoint[] = endpoints

  /** Verifies the chain of an endpoint, also when it was verified before. @throws as `verify` */
  async function verifyChain(endpoint: Endpoint): Promise<void> {
    const place = endpoints.length > 1 ? `URL ${endpoints.indexOf(endpoint) + 1} ` : ''
    try {
      await verifyChainId(endpoint.client, chainId, place)
    } catch (error) {
      forget(endpoint, error)
      throw error
    }
    verified.add(endpoint)
    if (!endpoint.isOfOtherChain) return
    endpoint.isOfOtherChain = false
    log.info({ chainId, endpoint: endpoint.host }, 'the endpoint serves the chain again')
  }

  /**
   * Has an endpoint verified again before the next read from it. One that has answered for another chain gets no calls until it
   * answers for this one.
   * @param error what it has failed with
   */
  function forget(endpoint: Endpoint, error?: unknown): void {
    verified.delete(endpoint)
    // Before that, a wrong endpoint is a mistake of the configuration, which ends the start.
    if (!(error instanceof ChainConfigError) || verifier.contract === undefined) return
    if (endpoint.isOfOtherChain) return
    endpoint.isOfOtherChain = true
    log.error(
      { chainId, endpoint: endpoint.host, reason: describeConfigError(error) },
      'an endpoint serves another chain: it gets no calls until it serves this one',
    )
  }

  /**
   * Verifies an endpoint before the first read from it. Later calls do nothing. The first call verifies all endpoints.
   * Those that did not answer then are verified before their first use.
   * @throws ChainConfigError; ChainReadError and viem's errors when the endpoint fails
   */
  async function verify(endpoint: Endpoint): Promise<void> {
    const asked = unverified.length > 0 ? unverified : [endpoint]
    unverified = []
    const answers = await Promise.allSettled(asked.filter((one) => !verified.has(one)).map(verifyChain))
    const reasons = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
    const issue = reasons.find((reason) => reason instanceof ChainConfigError)
    if (issue !== undefined) throw issue
    if (!verified.has(endpoint)) throw reasons[0]
    if (verifier.contract !== undefined) return
    const read = await verifyContract(endpoint.client, config, protocolName)
    const views = createOptionalViews(context, read.hasher, readAny)
    await views.readOnce(endpoint.client)
    if (verifier.contract !== undefined) return
    verifier.contract = { ...read, views }
    views.start()
    onKnown()
  }

  /**
   * Verifies the first endpoint in the order of calls that answers, and reads from it.
   * @param read gets the index of the endpoint too, for other clients of the same URLs
   * @throws ChainConfigError of an endpoint that answers, until the contract was read; otherwise what one of the endpoints fails with
   */
  function readAny<T>(read: (client: PublicClient, index: number) => Promise<T>): Promise<T> {
    return order.inOrder(
      async (endpoint) => {
        await verify(endpoint)
        return read(endpoint.client, endpoints.indexOf(endpoint))
      },
      // Marks none as failed: a token that a stranger has chosen may be what fails.
      (error) => {
        if (error instanceof ChainConfigError && verifier.contract === undefined) throw error
      },
      order.endpointsToVerify(),
    )
  }

  const verifier = {
    /** The contract's values and its views; undefined until an endpoint was verified. */
    contract: undefined as (VerifiedContract & { readonly views: OptionalViews }) | undefined,
    verify,
    verifyChain,
    forget,
    readAny,
    close: async (): Promise<void> => verifier.contract?.views.close(),
  }
  return verifier
}

/**
 * Verifies that a node serves a chain.
 * @param place names the node where there are several, with a space after it
 * @throws ChainConfigError when it serves another chain; viem's errors when it does not answer
 */
export async function verifyChainId(client: PublicClient, chainId: number, place = ''): Promise<void> {
  const answer = await client.getChainId()
  if (answer !== chainId)
    throw new ChainConfigError(
      `RPC_URL_${chainId}`,
      `${place}answers for chain ${answer}, and not for ${chainId}`,
    )
}
