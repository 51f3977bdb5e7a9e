import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { solverAccounts } from '../chain/chain.js'
import { eventually } from '../eventually.js'
import { signOwnResults } from '../solvers/own-results.js'
import { signedRegistration, signedUnregistration } from '../solvers/solver.js'
import {
  CHAINS,
  CHECK,
  EVENTS,
  LIST,
  ORDER,
  ORDERS,
  PAIRS,
  PRICE,
  QUOTE,
  READY,
  RECORD,
  REGISTER,
  RESULTS,
  SOCKET,
  SOLVER_STATS,
  STATS,
  STREAM,
  TOKENS,
  UNKNOWN_ORDER,
  UNKNOWN_QUOTE,
  UNREGISTER,
} from './cases.js'
import { type Asker, createAsker, type Exchange } from './exchanges.js'
import { METRICS_AUTH, type OpenApiFixture } from './fixture.js'
import { streamUntil } from './streams.js'

const [registered, second] = solverAccounts
const unbonded = solverAccounts[5]

/** Causes what instances refuse whatever is asked: by keys, limits and blocks, without their database, and when they start or drain. */
export async function causeRefusals(fixture: OpenApiFixture, exchanges: Exchange[]): Promise<void> {
  const { chainId } = fixture.chain
  const tight = createAsker(fixture.tight.url, exchanges)
  const keyed = createAsker(fixture.keyed.url, exchanges)
  const shared = createAsker(fixture.shared.url, exchanges)
  await causeKeyErrors(keyed, chainId)
  await causeRateLimits(tight, chainId)
  await causeBlocked(fixture, shared)
  await causeLostSolver(fixture, shared)
  await causeUnready(fixture, exchanges)
  for (const asker of [tight, keyed, shared]) asker.close()
}

/** All methods but a solver's own results, which need its signature. */
const METHODS = [
  ...[QUOTE, PRICE, CHECK, STREAM, RECORD, REGISTER, UNREGISTER, LIST],
  ...[STATS, SOLVER_STATS, ORDER, ORDERS, CHAINS, TOKENS, PAIRS],
]

/** Requests without an API key where the operator asks for one, and with a wrong one. */
async function causeKeyErrors({ ask }: Asker, chainId: number): Promise<void> {
  const path = { chainId, address: registered.address, orderId: UNKNOWN_ORDER, quoteId: UNKNOWN_QUOTE }
  for (const of of [...METHODS, RESULTS, EVENTS, SOCKET]) {
    await ask(of, { path, headers: { 'x-api-key': 'qa_nonsense' } })
    await ask(of, { path })
  }
}

/** Sends two requests of each kind to a service that accepts one. */
async function causeRateLimits({ ask, keep, url }: Asker, chainId: number): Promise<void> {
  const path = { chainId, address: registered.address, orderId: UNKNOWN_ORDER, quoteId: UNKNOWN_QUOTE }
  for (const of of METHODS) {
    await ask(of, { path })
    await ask(of, { path })
  }
  const body = await signOwnResults(registered, url)
  await ask(RESULTS, { path, body })
  await ask(RESULTS, { path, body })
  keep(EVENTS, await streamUntil(`${url}/v1/events`, 'connected'))
  await ask(EVENTS)
  await ask(SOCKET)
  const authorization = `Basic ${Buffer.from(METRICS_AUTH).toString('base64')}`
  await ask('GET /metrics', { headers: { authorization } })
  await ask('GET /metrics')
}

/** A registration by an address that the operator has blocked. */
async function causeBlocked({ chain, best, bar }: OpenApiFixture, { ask }: Asker): Promise<void> {
  const { endpointUrl } = best
  await bar(unbonded.address.toLowerCase() as Address)
  const body = await signedRegistration(unbonded, { endpointUrl })
  await ask(REGISTER, { path: { chainId: chain.chainId }, body })
}

/** Responses without the database. */
async function causeLostSolver(
  { chain, shared, best, killDatabase }: OpenApiFixture,
  { ask }: Asker,
): Promise<void> {
  const { chainId } = chain
  const { endpointUrl } = best
  const { text } = await streamUntil(`${shared.url}/v1/events`, 'connected')
  const [, log = ''] = /^id: ([\w-]+)\./m.exec(text) ?? []
  await killDatabase()
  await eventually(
    () => shared.get('/health'),
    ({ body }) => body.database === 'down',
  )
  await ask('GET /health')
  await ask(REGISTER, { path: { chainId }, body: await signedRegistration(second, { endpointUrl }) })
  const path = { chainId, address: second.address }
  await ask(UNREGISTER, { path, body: await signedUnregistration(second) })
  await ask(RECORD, { path: { chainId, quoteId: UNKNOWN_QUOTE } })
  await ask(RESULTS, { path, body: await signOwnResults(second, shared.url) })
  await ask(ORDERS, { path: { chainId } })
  await ask(STATS, { path: { chainId } })
  await ask(TOKENS, { path: { chainId } })
  await ask(PAIRS, { path: { chainId } })
  await ask(SOLVER_STATS, { path: { chainId, address: registered.address } })
  // Far later than what this replica knows: another replica may have sent it.
  await ask(EVENTS, { query: `?after=${log}.zzzzzz` })
}

/** A service that cannot serve yet, and then one that drains: an open connection is still answered. */
async function causeUnready({ startUnready }: OpenApiFixture, exchanges: Exchange[]): Promise<void> {
  const service = await startUnready()
  const { ask, close } = createAsker(service.url, exchanges)
  await ask(READY)
  const closed = service.close({ drainMs: 5000 })
  await ask(READY)
  close()
  await closed
}
