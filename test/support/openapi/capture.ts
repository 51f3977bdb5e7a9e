/**
 * Writes the examples of the API reference from real requests to a service on a local chain.
 * tsx test/support/openapi/capture.ts [outFile=src/http/openapi/examples.ts], then `npm run format`
 */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { domainSeparator } from 'viem'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { createDevnetClient, devAccounts } from '../../../src/devnet/deploy.js'
import type { Sample } from '../../../src/http/openapi/example.js'
import { causeErrors } from './error-cases.js'
import type { Exchange } from './exchanges.js'
import { type OpenApiFixture, startOpenApiFixture } from './fixture.js'

const OUT_FILE = fileURLToPath(new URL('../../../src/http/openapi/examples.ts', import.meta.url))
const MAX_TEXT_LENGTH = 1500

async function main(outFile: string) {
  const fixture = await startOpenApiFixture()
  const { exchanges, events } = await causeErrors(fixture)
  const settlement = await describeSettlement(fixture)
  await fixture.close()
  writeFileSync(outFile, moduleText({ settlement, exchanges: pick(exchanges), events: pickEvents(events) }))
}

/** Everything that is needed to compute the examples' hashes again. */
async function describeSettlement({ chain }: OpenApiFixture) {
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
function pickEvents(events: readonly { type: string }[]) {
  return events.filter(({ type }, place) => events.findIndex((event) => event.type === type) === place)
}

function moduleText({ settlement, exchanges, events }: Record<string, unknown>): string {
  const json = (value: unknown) => JSON.stringify(value, undefined, 2)
  return `// Written by test/support/openapi/capture.ts from a real run. Do not edit.
import type { ExampleEvent, Sample } from './example.js'

/** The settlement contract of that run. */
export const settlement = ${json(settlement)} as const

/** A request and its answer of each kind. */
export const exchanges: readonly Sample[] = ${json(exchanges)}

/** A message of the event stream of each type. */
export const events: readonly ExampleEvent[] = ${json(events)}
`
}

await main(process.argv[2] ?? OUT_FILE)
