import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { REASONS } from '../../../packages/protocol/src/errors.js'
import { solverAccounts, startChain, type TestChain, user } from '../../support/chain/chain.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { deferred } from '../../support/deferred.js'
import { alertQueries, dashboardQueries, JOB, type Query } from '../../support/deploy/monitoring.js'
import { readExpression } from '../../support/deploy/promql.js'
import { eventually } from '../../support/eventually.js'
import { startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startKeyedService } from '../../support/keys/keyed-service.js'
import { parseMetrics } from '../../support/service/metrics.js'
import type { TestService } from '../../support/service/service.js'
import { openSession } from '../../support/sessions/session-solver.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type Behaviour, honest, signedUnregistration, startSolver } from '../../support/solvers/solver.js'
import { watchEvents } from '../../support/streams/watch-events.js'

/** The known values of each label of each metric. */
type LabelValues = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>

/** Labels that Prometheus itself adds, and of other exporters. */
const OF_PROMETHEUS = {
  up: {},
  node_filesystem_avail_bytes: { fstype: undefined, mountpoint: undefined },
  node_filesystem_size_bytes: { fstype: undefined, mountpoint: undefined },
  probe_ssl_earliest_cert_expiry: {},
  ALERTS: { alertname: undefined, alertstate: 'firing', service: 'quote-aggregator' },
}
const OF_TARGET = { job: JOB, instance: undefined }

const noPromtool = spawnSync('promtool', ['--version']).error !== undefined
const queries = [...dashboardQueries(), ...alertQueries()]
const stops: (() => unknown)[] = []
let exported: LabelValues
let text: string

beforeAll(async () => {
  const chain = await startChain({ bonded: 3 })
  stops.push(chain.stop)
  const rpc = await startRpcProxy(chain.devnet.rpcUrl)
  stops.push(rpc.close)
  const service = await startKeyedService(chain, {
    [`RPC_URL_${chain.chainId}`]: rpc.url,
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
    RATE_LIMIT_SOLVERS: '1',
  })
  stops.push(service.close)
  await service.addKey('acme')
  await useSolvers(chain, service)
  await useChain(chain, service)
  rpc.setUp(false)
  await until(service, 'aggregator_rpc_errors_total')
  const { body } = await service.get('/metrics')
  text = body
  exported = labelValues(body)
})
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop()
})

/** Quotes of every outcome, a price, registrations, and a client over its limit. */
async function useSolvers(chain: TestChain, service: TestService): Promise<void> {
  const quotes = `/v1/${chain.chainId}/quote`
  const prices = `/v1/${chain.chainId}/price`
  const solvers = `/v1/${chain.chainId}/solvers`
  const held = deferred()
  const asked = deferred()
  const solver = await startSolver(chain, solverAccounts[0])
  const lie: Behaviour = async (ask, { quoteFor, sign }) => sign({ ...quoteFor(ask), outputAmount: '0' })
  const liar = await startSolver(chain, solverAccounts[1], lie)
  stops.push(solver.close, liar.close)

  await service.post(quotes, quoteRequest(chain))
  await solver.register(service)
  await liar.register(service)
  expect((await service.post(quotes, quoteRequest(chain))).status).toBe(200)
  expect((await service.post(prices, quoteRequest(chain))).status).toBe(200)

  solver.behave(lie)
  await service.post(quotes, quoteRequest(chain))
  solver.behave(async (...ask) => {
    asked.open()
    await held.opened
    return honest()(...ask)
  })
  const hurry = new AbortController()
  const given = service.post(quotes, quoteRequest(chain), { signal: hurry.signal }).catch(() => undefined)
  await asked.opened
  hurry.abort()
  await given
  await until(service, 'aggregator_quotes_total', { outcome: 'cancelled' })
  held.open()

  const unregistration = await signedUnregistration(solverAccounts[1])
  await service.delete(`${solvers}/${solverAccounts[1].address}`, unregistration)
  expect((await service.post(`${quotes}/stream`, quoteRequest(chain))).status).toBe(200)
  for (const status of [200, 429]) expect((await service.get(solvers)).status).toBe(status)

  const session = await openSession(service.url, chain, solverAccounts[2])
  session.leave()
  await until(service, 'aggregator_solver_session_ends_total')
}

/** Events, one of them removed by a reorganisation, and a client that follows them. */
async function useChain(chain: TestChain, service: TestService): Promise<void> {
  const traffic = await createTraffic(chain, { seed: 5 })
  const watch = await watchEvents(service)
  stops.push(watch.close)
  const terms = { inputAmount: 5n, outputAmount: 70n, fillDeadline: 4_100_000_000 }
  const order = traffic.actions.order({ user: user.address, solver: solverAccounts[2], ...terms })
  await traffic.mine([traffic.actions.deposit(order)])
  await until(service, 'aggregator_events_total')
  await traffic.reorganise(1)
  await until(service, 'aggregator_reorganisations_total')
}

const until = (service: TestService, metric: string, labels: Record<string, string> = {}) =>
  eventually(
    () => service.metric(metric, labels),
    (count) => count > 0,
  )

function labelValues(exposition: string): LabelValues {
  const metrics = new Map<string, Map<string, Set<string>>>()
  for (const { name, labels } of parseMetrics(exposition).all) {
    const known = metrics.get(name) ?? new Map<string, Set<string>>()
    metrics.set(name, known)
    for (const [label, value] of Object.entries(labels)) {
      known.set(label, (known.get(label) ?? new Set()).add(value))
    }
  }
  return metrics
}

/** The known label values of a metric. Undefined when there is no such metric. */
function labelsOf(metric: string): ReadonlyMap<string, ReadonlySet<string> | undefined> | undefined {
  const own = exported.get(metric)
  const ofPrometheus =
    metric in OF_PROMETHEUS ? OF_PROMETHEUS[metric as keyof typeof OF_PROMETHEUS] : undefined
  if (own === undefined && ofPrometheus === undefined) return undefined
  const added = Object.entries({ ...OF_TARGET, ...ofPrometheus }).map(
    ([label, value]) => [label, value === undefined ? undefined : new Set([value])] as const,
  )
  return new Map<string, ReadonlySet<string> | undefined>([...(own ?? []), ...added])
}

function findUnknown(find: (query: Query) => string[]): string[] {
  return queries.flatMap((query) => find(query).map((unknown) => `${query.of}: ${unknown}`))
}

test('the service exports every metric that the dashboard and the alerts use', () => {
  const unknown = findUnknown(({ expr }) =>
    readExpression(expr)
      .selectors.map(({ metric }) => metric)
      .filter((metric) => labelsOf(metric) === undefined),
  )
  expect(unknown).toEqual([])
})

test.skipIf(noPromtool)('promtool accepts the metrics (skipped where it is not installed)', () => {
  expect(exported.size).toBeGreaterThan(60)
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: text,
    encoding: 'utf8',
  })
  expect([stderr, stdout, status]).toEqual(['', '', 0])
})

test('the metrics have every label that the dashboard and the alerts select, group or show by', () => {
  const unknown = findUnknown(({ expr, shownLabels }) => {
    const { selectors, groupings } = readExpression(expr)
    if (selectors.some(({ metric }) => labelsOf(metric) === undefined)) return []
    const known = new Set(selectors.flatMap(({ metric }) => [...(labelsOf(metric)?.keys() ?? [])]))
    const selected = selectors.flatMap(({ metric, matchers }) =>
      matchers
        .filter(({ label }) => labelsOf(metric)?.has(label) === false)
        .map(({ label }) => `${metric}{${label}}`),
    )
    return [...selected, ...[...groupings, ...shownLabels].filter((label) => !known.has(label))]
  })
  expect(unknown).toEqual([])
})

test('the metrics or the list of reasons have every label value that the dashboard and the alerts select by', () => {
  const reasons = new Set<string>(Object.keys(REASONS))
  const unknown = findUnknown(({ expr }) =>
    readExpression(expr).selectors.flatMap(({ metric, matchers }) =>
      matchers
        .filter(({ label, value }) => {
          if (value.startsWith('$')) return false
          const known = labelsOf(metric)?.get(label)
          return value.split('|').some((one) => {
            return !(label === 'reason' && reasons.has(one)) && known?.has(one) === false
          })
        })
        .map(({ label, operator, value }) => `${metric}{${label}${operator}"${value}"}`),
    ),
  )
  expect(unknown).toEqual([])
})
