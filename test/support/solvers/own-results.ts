import type { LocalAccount } from 'viem'
import { ownResultsMessage } from '../../../packages/protocol/src/solvers/registration-messages.js'

interface Signed {
  readonly timestamp: number
  readonly audience: string
  readonly signature: string
}

/** What a solver sends to list its own results, signed for the service; `changes` replaces fields before the signature. */
export async function signOwnResults(
  account: LocalAccount,
  audience: string,
  changes: { readonly timestamp?: number; readonly protocolName?: string } = {},
): Promise<Signed> {
  const { timestamp = Date.now(), protocolName = 'Service' } = changes
  const text = ownResultsMessage(protocolName, { address: account.address, audience, timestamp })
  return { timestamp, audience, signature: await account.signMessage({ message: text }) }
}
