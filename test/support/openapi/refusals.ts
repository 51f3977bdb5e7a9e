import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { solverAccounts } from '../chain/chain.js'
import { eventually } from '../eventually.js'
import { signOwnResults } from '../solvers/own-results.js'
import { signedRegistration, signedUnregistration } from '../solvers/solver.js'
import { type Ask, type Exchange, OPERATIONS } from './exchanges.js'
import { DEAD_CHAIN, METRICS_AUTH, type OpenApiFixture, UNKNOWN_CHAIN } from './fixture.js'

const [registered, second] = solverAccounts
const unbonded = solverAccounts[5]

export const UNKNOWN_ORDER = `0x${'cd'.repeat(32)}`
export const UNKNOWN_QUOTE = '00000000-0000-4000-8000-000000000000'
const TOO_LONG = { amount: '1'.repeat(65_536) }
const BAD_TIMEOUT = { 'connect-timeout-ms': 'soon' }
/** The operations that are methods of the API. */
const METHODS = OPERATIONS.filter(({ of }) => of.includes(' /v1/'))

/** Causes what instances refuse whatever is asked, and what they answer without their database and their chain. @param exchanges with a success of each operation */
export async function causeRefusals(
  fixture: OpenApiFixture,
  exchanges: readonly Exchange[],
  askAt: (url: string) => Ask,
): Promise<void> {
  await refuseAnyRequest(fixture, exchanges, askAt(fixture.service.url))
  await limitRates(fixture, askAt(fixture.tight.url))
  await loseDatabase(fixture, askAt(fixture.shared.url))
  await drain(fixture, askAt)
}

/** Spoils the request that was answered: its chain, the length of its body, its time limit, its verb. */
async function refuseAnyRequest(
  { chain }: OpenApiFixture,
  exchanges: readonly Exchange[],
  ask: Ask,
): Promise<void> {
  for (const { id, of } of METHODS) {
    const { path = {}, requestBody } = exchanges.find((each) => each.of === of && each.status === 200) ?? {}
    for (const chainId of of.includes('{chainId}') ? [UNKNOWN_CHAIN, DEAD_CHAIN] : []) {
      const moved = Object.entries(requestBody ?? {}).map(([name, value]) => [
        name,
        value === chain.chainId ? chainId : value,
      ])
      await ask(id, { path: { ...path, chainId }, body: requestBody && Object.fromEntries(moved) })
    }
    if (requestBody) await ask(id, { path, body: TOO_LONG })
    if (path.chainId || id === 'listChains') await ask(id, { path, body: requestBody, headers: BAD_TIMEOUT })
    await ask(of.replace(/^\w+/, 'PUT'), { path })
  }
}

/** Sends two requests of each kind to a service that accepts one. */
async function limitRates({ tight }: OpenApiFixture, ask: Ask): Promise<void> {
  const results = await signOwnResults(registered, tight.url)
  for (const { id } of METHODS)
    for (const _ of ['accepted', 'one too many'])
      await ask(id, { until: 'connected', body: id === 'listOwnResults' ? results : undefined })
  const authorization = `Basic ${Buffer.from(METRICS_AUTH).toString('base64')}`
  await ask('getMetrics', { headers: { authorization } })
  await ask('getMetrics')
}

/** Registers an address that the operator has blocked, and asks for all that needs the database without it. */
async function loseDatabase(fixture: OpenApiFixture, ask: Ask): Promise<void> {
  const { shared, best } = fixture
  await fixture.bar(unbonded.address.toLowerCase() as Address)
  await ask('registerSolver', { body: await signedRegistration(unbonded, best) })

  const { body: text } = await ask('streamEventsAsServerSentEvents', { until: 'connected' })
  const [, log = ''] = /^id: ([\w-]+)\./m.exec(String(text)) ?? []
  await fixture.killDatabase()
  await eventually(
    () => shared.get('/health'),
    ({ body }) => body.database === 'down',
  )
  const path = { address: second.address }
  await ask('getHealth')
  await ask('registerSolver', { body: await signedRegistration(second, best) })
  await ask('unregisterSolver', { path, body: await signedUnregistration(second) })
  await ask('listOwnResults', { path, body: await signOwnResults(second, shared.url) })
  for (const operation of [
    'getQuoteRecord',
    'listOrders',
    'listSolverStats',
    'getSolverStats',
    'listTokens',
    'listPairs',
  ])
    await ask(operation)
  // Far later than what this replica knows: another replica may have sent it.
  await ask('streamEventsAsServerSentEvents', { query: `?after=${log}.zzzzzz` })
}

/** A service that asks for API keys and cannot serve yet, and then drains: an open connection is still answered. */
async function drain({ startUnready }: OpenApiFixture, askAt: (url: string) => Ask): Promise<void> {
  const service = await startUnready()
  const ask = askAt(service.url)
  for (const { id } of METHODS)
    for (const key of ['qa_nonsense', ''])
      await ask(id, { path: { chainId: DEAD_CHAIN }, headers: key ? { 'x-api-key': key } : {} })
  await ask('getReadiness')
  const closed = service.close({ drainMs: 5000 })
  await ask('getReadiness')
  await closed
}
