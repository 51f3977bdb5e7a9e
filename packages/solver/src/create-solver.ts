import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Clock, systemClock } from '../../protocol/src/clock.js'
import { reportable } from '../../protocol/src/node/node-words.js'
import type { ChainRun } from './chain/chain-run.js'
import { createMetrics, startMonitoring } from './monitoring.js'
import type { QuotedOrder } from './orders/order-terms.js'
import { answerRequest, type EndpointAnswer, type EndpointRequest, handle } from './quoting/endpoint.js'
import { exposureOf, openQuotesOf } from './risk/exposure.js'
import type { CancelledQuote } from './risk/quote-ledger.js'
import {
  CALLBACKS,
  readOptions,
  type Settings,
  type SolverLog,
  type SolverOptions,
} from './solver-options.js'
import { chainIdsOf, type SolverParts } from './solver-parts.js'
import { type Running, startSolver } from './start-solver.js'
import { createOnceAMinute } from './waiting.js'

/** A solver that quotes, fills and keeps track of its orders. */
export type Solver = ReturnType<typeof createSolver>

const STOPPED: EndpointAnswer = { status: 503, body: { error: 'the solver does not run' } }

/**
 * Builds a solver. Nothing runs before `start`.
 * @param clock tests have their own
 * @throws Error that names each option that is not valid
 */
export function createSolver(given: SolverOptions, clock: Clock = systemClock) {
  const options = readOptions(given)
  const log = guardedLog(options)
  const metrics = createMetrics()
  const closing = new AbortController()
  const { signal } = closing
  // Each order that is under way listens.
  setMaxListeners(0, signal)
  const running: Running = { chains: new Map(), ends: [] }
  const { chains, ends } = running
  const sum = (countIn: (run: ChainRun) => number) =>
    [...chains.values()].reduce((total, run) => total + countIn(run), 0)
  let starting: Promise<void> | undefined
  let ending: Promise<void> | undefined

  function onError(thrown: unknown): void {
    const error = reportable(thrown)
    metrics.errors++
    log.error({ err: error }, 'solver error')
    guarded(options.onError, (thrown) => log.error({ err: thrown }, 'onError has thrown'))(error)
  }

  const isDue = createOnceAMinute(clock)
  const hooks = Object.fromEntries(
    CALLBACKS.map((name) => [name, guarded<never>(options[name], onError)]),
  ) as unknown as SolverParts['hooks']

  const count = () => ({
    ...metrics,
    openQuotes: sum(({ ledger }) => ledger.count()),
    openOrders: sum(({ filling }) => filling.deposits.size),
  })

  /** Why a chain does not quote, or no instance asks. */
  function problems(): string[] {
    const found = chainIdsOf(options).flatMap((id) => {
      const run = chains.get(id)
      const why = run ? run.pauseFor() : 'it does not run'
      return why ? [`chain ${id}: ${why}`] : []
    })
    const isAsked = options.endpointUrl === undefined ? metrics.sessionOpen === 1 : running.quoting
    return isAsked ? found : [...found, 'no instance is connected']
  }

  async function start(): Promise<void> {
    try {
      const { metricsPort: port, metricsHost: host } = options
      if (port !== undefined) ends.push(await startMonitoring(port, host, count, problems))
      await startSolver({ options, clock, metrics, log, isDue, hooks, onError, signal }, running)
    } catch (error) {
      if (signal.aborted) return
      // A chain that runs pays what it owes until the solver is closed.
      if (chains.size === 0) await end()
      throw reportable(error)
    }
  }

  async function end(): Promise<void> {
    running.quoting = undefined
    closing.abort(new Error('the solver is closed'))
    for (const endPart of ends.splice(0).toReversed()) await endPart()
  }

  const answer = async (request: EndpointRequest) =>
    running.quoting === undefined ? STOPPED : answerRequest(running.quoting, request, clock)

  return {
    /**
     * Reads the contracts, pays what was deposited while the solver was stopped, puts approvals in place, and connects or
     * registers. Once only. An instance or a registration that fails for a time is tried again, and a chain while another one runs.
     * @returns when the instance asks the solver, or the solver is closed
     * @throws Error with the node's words when no chain can be used, AggregatorError of a registration and SessionError of a hello
     * that the instance never accepts, and Error for options that do not fit. A chain that runs goes on to pay and to end quotes
     * until `close`.
     */
    start(): Promise<void> {
      starting ??= start()
      return starting
    },
    /** Stops quoting and filling. An order that is under way goes on at the next start with the same `stateFile`. */
    async close(): Promise<void> {
      ending ??= (async () => {
        await end()
        // It may have started another part meanwhile.
        await starting?.catch(() => {})
        await end()
      })()
      await ending
    },
    /** Answers `POST <path of endpointUrl>/quote`, for `node:http` and for a route of Express. All else is 404. */
    handler: (request: IncomingMessage, response: ServerResponse): void =>
      void handle(options.endpointUrl, answer, request, response).catch(onError),
    /** Answers a request that another server has read, such as a route of Fastify at the path of `endpointUrl`. */
    answer,
    /**
     * Cancels quotes that were not taken on the chain, before the kit does it by itself: a transaction for each uses up its nonce. A
     * quote whose deposit came first is `TAKEN`, and its order is filled. One is left `OPEN` while `maxCancelFees` does not allow it.
     * @param selects is asked for each quote whose nonce is not known to be used. When left out, all are cancelled.
     * @returns when all have ended
     * @throws Error when the solver does not run on the chain, or is closed. What has begun goes on at the next start with the same
     * `stateFile`. Error with the node's words.
     */
    async cancelQuotes(
      chainId: number,
      selects?: (quote: QuotedOrder) => boolean,
    ): Promise<CancelledQuote[]> {
      const run = chains.get(chainId)
      if (run === undefined) throw new Error(`the solver does not run on chain ${chainId}`)
      return run.ending.cancelQuotes(selects).catch((error) => {
        throw reportable(error)
      })
    },
    /** The quotes and prices that may still be taken, of all chains. */
    openQuotes: () => [...chains.values()].flatMap(openQuotesOf),
    /** What the solver has and has promised on each chain that runs. */
    exposure: () => [...chains.values()].map(exposureOf),
    /** Counts since the start. */
    metrics: count,
  }
}

/** A log may throw: its disk is full, or it cannot write a value. */
function guardedLog({ log, onError }: Settings): SolverLog {
  const report = guarded(onError, () => {})
  const line = (level: keyof SolverLog) => (fields: object, message: string) =>
    guarded(() => log?.[level](fields, message), report)(undefined)
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
}

/** A callback that throws, or whose promise is rejected or never ends, must not stop what calls it. */
function guarded<T>(
  callback: ((value: T) => unknown) | undefined,
  onError: (error: unknown) => void,
): (value: T) => void {
  return (value) => void (async () => callback?.(value))().catch(onError)
}
