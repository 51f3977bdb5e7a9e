import { domainSeparator } from 'viem'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { createDevnetClient, devAccounts } from '../../../packages/cli/src/devnet/deploy.js'
import type { SettlementDomain } from '../../../packages/protocol/src/signing/typed-data.js'
import type { ExampleEvent, ExampleRun, Sample } from '../../../scripts/openapi/example.js'
import type { causeAnswers } from './answers.js'
import type { Exchange } from './exchanges.js'
import type { OpenApiFixture } from './fixture.js'

const MAX_TEXT_LENGTH = 1500

/** Picks an example of each kind of response that the services of a fixture gave. */
export async function captureExamples(
  fixture: OpenApiFixture,
  { exchanges, events }: Awaited<ReturnType<typeof causeAnswers>>,
): Promise<ExampleRun> {
  const settlement = await describeSettlement(fixture)
  return { settlement, exchanges: pick(exchanges), events: pickEvents(events) }
}

/** Everything that is needed to compute the examples' hashes again. */
async function describeSettlement({ chain }: OpenApiFixture): Promise<SettlementDomain> {
  const { settlement } = chain.contracts
  const depositProxyCodeHash = await createDevnetClient(chain.devnet, devAccounts[0]).readContract({
    abi: settlementAbi,
    address: settlement,
    functionName: 'DEPOSIT_PROXY_CREATION_CODE_HASH',
  })
  return { settlement, domainSeparator: domainSeparator({ domain: chain.domain }), depositProxyCodeHash }
}

/** The first response of each kind. */
function pick(exchanges: readonly Exchange[]): Sample[] {
  const picked = new Map<string, Sample>()
  for (const exchange of exchanges) {
    const { of, status, reason, path, requestBody, body } = exchange
    const isRefused = reason === 'ROUTE_NOT_FOUND' || reason === 'METHOD_NOT_ALLOWED'
    const key = `${isRefused ? 'unrouted' : of} ${status} ${reason}`
    if (status === 101 || picked.has(key)) continue
    const request = status === 200 ? { path, requestBody } : {}
    const text = typeof body === 'string' ? shortened(body) : body
    picked.set(key, { of: isRefused ? 'unrouted' : of, status, reason, ...request, body: text })
  }
  return [...picked.values()]
}

/** Long texts repeat themselves. @returns as many whole paragraphs as there is room for */
function shortened(text: string): string {
  return text.length <= MAX_TEXT_LENGTH ? text : text.slice(0, text.lastIndexOf('\n\n', MAX_TEXT_LENGTH) + 1)
}

/** The first message of each type. */
function pickEvents(events: readonly { type: string }[]): ExampleEvent[] {
  const first = events.filter(({ type }, place) => events.findIndex((event) => event.type === type) === place)
  return first.map((event) => ({ ...event }))
}
