import type { LocalAccount } from 'viem'
import { ownResultsMessage } from '../../../packages/protocol/src/solvers/registration-messages.js'
import type { TestService } from '../service/service.js'

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

/** Requests one page, by REST. */
export async function listOwnResults(
  service: TestService,
  chainId: number,
  account: LocalAccount,
  fields: object = {},
) {
  const signed = await signOwnResults(account, service.url)
  return service.post(`/v1/${chainId}/solvers/${account.address}/results`, { ...signed, ...fields })
}

/** The results of all pages. */
export async function listAllOwnResults(
  service: TestService,
  chainId: number,
  account: LocalAccount,
  pageSize = 50,
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of many shapes
): Promise<any[]> {
  const results = []
  for (let pageToken = ''; ; ) {
    const { status, body } = await listOwnResults(service, chainId, account, { pageSize, pageToken })
    if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
    results.push(...body.results)
    if (body.nextPageToken === '') return results
    pageToken = body.nextPageToken
  }
}
