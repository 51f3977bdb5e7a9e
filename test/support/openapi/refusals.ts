import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { solverAccounts } from '../chain/chain.js'
import { eventually } from '../eventually.js'
import { signOwnResults } from '../solvers/own-results.js'
import { signedRegistration, signedUnregistration } from '../solvers/solver.js'
import { createAsker, type Exchange } from './exchanges.js'
import { METRICS_AUTH, type OpenApiFixture, UNKNOWN_CHAIN } from './fixture.js'
import { HEALTH, METRICS, OF, READY } from './operations.js'
import { streamUntil } from './streams.js'

const [registered, second] = solverAccounts
const unbonded = solverAccounts[5]

export const UNKNOWN_ORDER = `0x${'cd'.repeat(32)}`
export const UNKNOWN_QUOTE = '00000000-0000-4000-8000-000000000000'
const TOO_LONG = JSON.stringify({ amount: '1'.repeat(65_536) })
const BAD_TIMEOUT = { 'connect-timeout-ms': 'soon' }

/** Causes what instances refuse whatever is asked, and what they answer without their database and their chain. @param exchanges with a success of each operation */
export async function causeRefusals(fixture: OpenApiFixture, exchanges: Exchange[]): Promise<void> {
  const path = pathOf(fixture)
  await refuseAnyRequest(fixture, exchanges)
  await refuseKeys(fixture, exchanges, path)
  await limitRates(fixture, exchanges, path)
  await loseDatabase(fixture, exchanges, path)
  await drain(fixture, exchanges)
}

type Path = ReturnType<typeof pathOf>

/** A value for each name in a path. */
const pathOf = ({ chain }: OpenApiFixture) => ({
  chainId: chain.chainId,
  address: registered.address,
  orderId: UNKNOWN_ORDER,
  quoteId: UNKNOWN_QUOTE,
})

/** Spoils the request that was answered: its chain, the length of its body, its time limit, its verb. */
async function refuseAnyRequest({ service }: OpenApiFixture, exchanges: Exchange[]): Promise<void> {
  const { ask, close } = createAsker(service.url, exchanges)
  for (const of of Object.values(OF)) {
    const { path = {}, requestBody } = exchanges.find((each) => each.of === of && each.status === 200) ?? {}
    const body = requestBody === undefined ? {} : { body: requestBody }
    if (of.includes('{chainId}')) await ask(of, { ...body, path: { ...path, chainId: UNKNOWN_CHAIN } })
    if (requestBody !== undefined) await ask(of, { path, body: TOO_LONG })
    if (of !== OF.events && of !== OF.socket) await ask(of, { ...body, path, headers: BAD_TIMEOUT })
    await ask(of.replace(/^\w+/, 'PUT'), { path })
  }
  close()
}

/** Asks without an API key where the operator asks for one, and with a wrong one. */
async function refuseKeys({ keyed }: OpenApiFixture, exchanges: Exchange[], path: Path): Promise<void> {
  const { ask, close } = createAsker(keyed.url, exchanges)
  for (const of of Object.values(OF)) {
    await ask(of, { path, headers: { 'x-api-key': 'qa_nonsense' } })
    await ask(of, { path })
  }
  close()
}

/** Sends two requests of each kind to a service that accepts one. */
async function limitRates({ tight }: OpenApiFixture, exchanges: Exchange[], path: Path): Promise<void> {
  const { ask, keep, close } = createAsker(tight.url, exchanges)
  const { events, socket, results, ...others } = OF
  for (const of of Object.values(others)) {
    await ask(of, { path })
    await ask(of, { path })
  }
  const body = await signOwnResults(registered, tight.url)
  await ask(results, { path, body })
  await ask(results, { path, body })
  keep(events, await streamUntil(`${tight.url}/v1/events`, 'connected'))
  await ask(events)
  await ask(socket)
  const authorization = `Basic ${Buffer.from(METRICS_AUTH).toString('base64')}`
  await ask(METRICS, { headers: { authorization } })
  await ask(METRICS)
  close()
}

/** Registers an address that the operator has blocked, and asks for all that needs the database without it. */
async function loseDatabase(fixture: OpenApiFixture, exchanges: Exchange[], path: Path): Promise<void> {
  const { shared, best } = fixture
  const { ask, close } = createAsker(shared.url, exchanges)
  await fixture.bar(unbonded.address.toLowerCase() as Address)
  await ask(OF.register, { path, body: await signedRegistration(unbonded, best) })

  const { text } = await streamUntil(`${shared.url}/v1/events`, 'connected')
  const [, log = ''] = /^id: ([\w-]+)\./m.exec(text) ?? []
  await fixture.killDatabase()
  await eventually(
    () => shared.get('/health'),
    ({ body }) => body.database === 'down',
  )
  const own = { ...path, address: second.address }
  await ask(HEALTH)
  await ask(OF.register, { path, body: await signedRegistration(second, best) })
  await ask(OF.unregister, { path: own, body: await signedUnregistration(second) })
  await ask(OF.results, { path: own, body: await signOwnResults(second, shared.url) })
  for (const of of [OF.record, OF.orders, OF.stats, OF.solverStats, OF.tokens, OF.pairs])
    await ask(of, { path })
  // Far later than what this replica knows: another replica may have sent it.
  await ask(OF.events, { query: `?after=${log}.zzzzzz` })
  close()
}

/** A service that cannot serve yet, and then one that drains: an open connection is still answered. */
async function drain({ startUnready }: OpenApiFixture, exchanges: Exchange[]): Promise<void> {
  const service = await startUnready()
  const { ask, close } = createAsker(service.url, exchanges)
  await ask(READY)
  const closed = service.close({ drainMs: 5000 })
  await ask(READY)
  close()
  await closed
}
