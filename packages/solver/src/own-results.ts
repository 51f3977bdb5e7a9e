import { createAggregatorClient } from '../../client/src/client.js'
import { type OwnResultPage, type OwnResultsParams, signOwnResults } from '../../client/src/own-results.js'
import { createQuoteSigner } from './quote-signer.js'
import { atAny } from './registration.js'
import type { SolverOptions } from './solver-options.js'

/**
 * Signs for a page of the solver's own results, and reads it at the first of the URLs that can be reached. Each URL has a
 * signature of its own, because it has the URL's origin.
 * @throws AggregatorError, and the errors of the account
 */
export async function listResults(
  { account, aggregatorUrl, protocolName = 'Service' }: SolverOptions,
  chainId: number,
  params?: OwnResultsParams,
): Promise<OwnResultPage> {
  const signer = (await createQuoteSigner(account, protocolName)).account
  return atAny([aggregatorUrl].flat(), async (url) => {
    const signed = await signOwnResults(signer, { protocolName, chainId, audience: url })
    return createAggregatorClient({ baseUrl: url }).listOwnResults(signed, params)
  })
}
