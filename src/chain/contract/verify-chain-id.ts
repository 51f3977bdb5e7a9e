import type { PublicClient } from 'viem'
import { ChainConfigError } from '../chain-config-error.js'

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
