import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ChainRun, startChainRun } from './chain-run.js'
import { answerRequest, type EndpointAnswer, type EndpointRequest, handle } from './endpoint.js'
import { createMetrics, type SolverMetrics } from './metrics.js'
import { createQuoteSigner } from './quote-signer.js'
import { createQuoting, type Quoting } from './quoting.js'
import { registerEndpoint } from './registration.js'
import { connectBySession } from './solver-connection.js'
import type { SolverLog, SolverOptions } from './solver-options.js'
import { openState, type SolverState } from './state.js'

/** A solver that quotes, fills and keeps track of its orders. */
export interface Solver {
  /**
   * Reads the contracts, puts approvals in place, pays what was deposited while the solver was stopped, and connects or
   * registers. Once only.
   * @returns when the instance asks the solver
   * @throws viem's errors, AggregatorError of a registration, SessionError of a hello that the instance never accepts, and
   * Error for options that do not fit. Then nothing runs.
   */
  start(): Promise<void>
  /** Stops quoting and filling. An order that is under way goes on at the next start with the same `stateFile`. */
  close(): Promise<void>
  /** Answers `POST …/quote`, for `node:http` and for `use` of Express. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void
  /** Answers a request that another server has read, such as a route of Fastify. */
  readonly answer: (request: EndpointRequest) => Promise<EndpointAnswer>
  /** Counts since the start. */
  metrics(): SolverMetrics
}

const NO_LOG: SolverLog = { debug() {}, info() {}, warn() {}, error() {} }
const STOPPED: EndpointAnswer = { status: 503, body: { error: 'the solver does not run' } }
const PRUNE_MS = 3_600_000

/** Builds a solver. Nothing runs before `start`. @throws Error for options that do not fit */
export function createSolver(options: SolverOptions): Solver {
  const { log = NO_LOG, protocolName = 'Service', name, overcommit = 1 } = options
  const serviceUrls = [options.aggregatorUrl].flat() as [string, ...string[]]
  const chainIds = Object.keys(options.chains).map(Number)
  if (serviceUrls.length === 0) throw new Error('aggregatorUrl must have at least one URL')
  if (chainIds.length === 0) throw new Error('chains must have at least one chain')
  const metrics = createMetrics()
  const closing = new AbortController()
  const { signal } = closing
  /** What has been started, to be ended in the opposite order. */
  const parts: (() => Promise<void> | void)[] = []
  let runs: readonly ChainRun[] = []
  let quoting: Quoting | undefined
  let starting: Promise<void> | undefined
  let ending: Promise<void> | undefined

  function onError(error: unknown): void {
    metrics.errors++
    log.error({ err: error }, 'solver error')
    options.onError?.(error)
  }

  async function startAll(): Promise<void> {
    const signer = await createQuoteSigner(options.account, protocolName)
    const { account } = signer
    const state = openState(options.stateFile ?? ':memory:')
    parts.push(() => state.close())
    pruneNowAndThen(state)
    const common = { account, protocolName, overcommit, state, metrics, log, signal, onError }
    const onFilled: SolverOptions['onFilled'] = (order) => options.onFilled?.(order)
    const entries = Object.entries(options.chains)
    const started = await Promise.allSettled(
      entries.map(async ([id, chainOptions]) => {
        const run = await startChainRun({
          ...common,
          chainId: Number(id),
          chainOptions,
          fill: options.fill,
          onFilled,
        })
        parts.push(run.idle)
        return run
      }),
    )
    runs = started.map((result) => {
      if (result.status === 'rejected') throw result.reason
      return result.value
    })
    signal.throwIfAborted()
    const chains = new Map(runs.map((run) => [run.chain.chainId, run]))
    const { quote } = options
    const answer = createQuoting({ chains, signer, quote, metrics, onError, signal })
    quoting = answer
    if (options.endpointUrl === undefined) {
      const target = { ...options, serviceUrls, name, protocolName, account, chainIds }
      const connection = connectBySession({
        ...target,
        chains,
        state,
        quoting: answer,
        metrics,
        log,
        onError,
      })
      parts.push(connection.close)
      await connection.opened
    } else {
      const { endpointUrl } = options
      const terms = { account, aggregatorUrls: serviceUrls, chainIds, endpointUrl, name, protocolName }
      const registered = await registerEndpoint(terms)
      for (const { chainId, check } of registered) log.info({ chainId, ...check }, 'endpoint registered')
    }
  }

  function pruneNowAndThen(state: SolverState): void {
    const prune = () => state.prune(Math.floor(Date.now() / 1000))
    prune()
    const timer = setInterval(prune, PRUNE_MS).unref()
    parts.push(() => clearInterval(timer))
  }

  async function end(): Promise<void> {
    quoting = undefined
    closing.abort(new Error('the solver is closed'))
    for (const endPart of parts.splice(0).toReversed()) await endPart()
  }

  const answer = async (request: EndpointRequest) =>
    quoting === undefined ? STOPPED : answerRequest(quoting, request)

  return {
    start() {
      starting ??= startAll().catch(async (error) => {
        await end()
        throw error
      })
      return starting
    },
    async close() {
      ending ??= (async () => {
        await end()
        // It may have started another part meanwhile.
        await starting?.catch(() => {})
        await end()
      })()
      await ending
    },
    handler: (request, response) => void handle(answer, request, response).catch(onError),
    answer,
    metrics: () => ({
      ...metrics,
      openQuotes: runs.reduce((sum, { liquidity }) => sum + liquidity.count(), 0),
      openOrders: runs.reduce((sum, { filling }) => sum + filling.count(), 0),
    }),
  }
}
