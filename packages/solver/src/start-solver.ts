import type { Clock } from '../../../src/clock.js'
import { AggregatorError } from '../../client/src/errors.js'
import { type ChainRun, startChainRun } from './chain-run.js'
import type { SolverMetrics } from './metrics.js'
import { createQuoteSigner } from './quote-signer.js'
import { createQuoting, type Quoting } from './quoting.js'
import { registerEndpoint } from './registration.js'
import { hasSecretPath, withSecretPath } from './secret-path.js'
import { createBackoff } from './session/backoff.js'
import { connectBySession } from './solver-connection.js'
import type { ChainOptions, SolverAccount, SolverLog, SolverOptions } from './solver-options.js'
import { openState, type SolverState } from './state.js'

interface StartOptions {
  readonly options: SolverOptions
  readonly clock: Clock
  readonly metrics: SolverMetrics
  readonly log: SolverLog
  readonly onError: (error: unknown) => void
  /** Aborts when the solver is closed. */
  readonly signal: AbortSignal
  /** Takes the end of each part that has been started. */
  readonly addPart: (end: () => Promise<void> | void) => void
  /** Called when requests can be answered: an instance may ask before it has accepted the solver. */
  readonly onQuoting: (quoting: Quoting) => void
  /** The chains that run, by id. */
  readonly chains: Map<number, ChainRun>
}

/** What the parts of a solver share. */
interface Shared extends StartOptions {
  readonly account: SolverAccount
  readonly state: SolverState
  readonly protocolName: string
  readonly serviceUrls: readonly [string, ...string[]]
  readonly chainIds: readonly number[]
}

/** Refusals of a registration that the same one gets again. */
const FINAL_REFUSALS: readonly string[] = [
  'INVALID_ARGUMENT',
  'SIGNATURE_INVALID',
  'SOLVER_BLOCKED',
  'ENDPOINT_REJECTED',
  'CHAIN_NOT_SUPPORTED',
]
/** What a market maker allows when it says nothing (docs/decisions.md, D23). */
const DEFAULT_LIMITS = { overcommit: 1, maxBondShare: 0.1, maxOpenBond: 0.5, maxAddressBondShare: 0.05 }
const DEFAULT_RULES = { minFillSeconds: 60, maxLockSeconds: 3_600 }

/**
 * Starts all parts of a solver, one after the other. What is owed is paid from the moment its chain runs, whatever becomes of the rest.
 * @returns when an instance asks it
 * @throws as `Solver.start`
 */
export async function startSolver(start: StartOptions): Promise<void> {
  const { options, signal } = start
  const { protocolName = 'Service', quote } = options
  const signer = await createQuoteSigner(options.account, protocolName)
  const { account } = signer
  const state = openState(options.stateFile ?? ':memory:')
  start.addPart(() => state.close())
  const serviceUrls = [options.aggregatorUrl].flat() as [string, ...string[]]
  const chainIds = Object.keys(options.chains).map(Number)
  const shared = { ...start, account, state, protocolName, serviceUrls, chainIds }
  await startChains(shared)
  signal.throwIfAborted()
  const rules = givenOr(DEFAULT_RULES, options)
  const quoting = createQuoting({ ...start, signer, quote, rules })
  start.onQuoting(quoting)
  if (options.endpointUrl === undefined) await connect(shared, quoting)
  else await register(shared, options.endpointUrl)
}

/** @returns when each chain has started or failed; one that failed is tried again @throws the first error when none is ready */
async function startChains(shared: Shared): Promise<void> {
  const ids = Object.keys(shared.options.chains).map(Number)
  const started = await Promise.allSettled(ids.map((chainId) => startChain(shared, chainId)))
  const failures = started.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  if (failures.length === ids.length) throw failures[0]
  for (const [index, result] of started.entries()) {
    if (result.status === 'fulfilled') continue
    shared.onError(result.reason)
    void keepTrying(shared, () => startChain(shared, ids[index] as number)).catch(() => {})
  }
}

/** Starts what of a chain does not run yet. */
async function startChain(shared: Shared, chainId: number): Promise<void> {
  const { options, addPart, onError, chains } = shared
  const { fill, acceptLess } = options
  let run = chains.get(chainId)
  if (run === undefined) {
    const limits = givenOr(DEFAULT_LIMITS, options)
    const onFilled = guarded(options.onFilled, onError)
    const chainOptions = options.chains[chainId] as ChainOptions
    run = await startChainRun(chainId, chainOptions, { ...shared, fill, acceptLess, limits, onFilled })
    chains.set(chainId, run)
    addPart(run.idle)
  }
  await run.prepare()
}

async function connect(shared: Shared, quoting: Quoting): Promise<void> {
  const { options, onError, addPart } = shared
  const connection = connectBySession({
    ...shared,
    name: options.name,
    quoting,
    onSession: guarded(options.onSession, onError),
    onResult: guarded(options.onResult, onError),
  })
  addPart(connection.close)
  await connection.opened
}

/** An instance that cannot be reached is tried again, as with a session. */
async function register(shared: Shared, endpointUrl: string): Promise<void> {
  const { options, serviceUrls, log, chainIds } = shared
  if (!hasSecretPath(endpointUrl))
    log.warn(
      { endpointUrl, proposal: withSecretPath(endpointUrl) },
      'strangers can guess the endpoint: give its path a part that is random, as in the proposal, and keep it',
    )
  const terms = { ...shared, aggregatorUrls: serviceUrls, endpointUrl, name: options.name }
  for (const chainId of chainIds) {
    const registerOnce = () => registerEndpoint({ ...terms, chainIds: [chainId] })
    for (const { check } of await keepTrying(shared, registerOnce))
      log.info({ chainId, ...check }, 'endpoint registered')
  }
}

/** @throws a refusal that the same attempt would get again, and the signal's reason */
async function keepTrying<T>({ clock, signal, onError }: Shared, attempt: () => Promise<T>): Promise<T> {
  const backoff = createBackoff(Math.random)
  for (;;) {
    signal.throwIfAborted()
    try {
      return await attempt()
    } catch (error) {
      if (signal.aborted || (error instanceof AggregatorError && FINAL_REFUSALS.includes(error.reason)))
        throw error
      onError(error)
      await clock.sleep(backoff.next(), signal)
    }
  }
}

/** The limits of the options, and the defaults of those that are left out. */
function givenOr<T extends Record<string, number>>(defaults: T, options: { [K in keyof T]?: number }): T {
  const entries = Object.entries(defaults).map(([name, value]) => [name, options[name] ?? value])
  return Object.fromEntries(entries)
}

/** A callback that throws must not stop what calls it. */
function guarded<T>(
  callback: ((value: T) => void) | undefined,
  onError: (error: unknown) => void,
): (value: T) => void {
  return (value) => {
    try {
      callback?.(value)
    } catch (error) {
      onError(error)
    }
  }
}
