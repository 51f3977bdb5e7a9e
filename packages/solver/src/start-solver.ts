import type { Clock } from '../../../src/clock.js'
import { type ChainRun, startChainRun } from './chain-run.js'
import { limitAnswers } from './limit-answers.js'
import type { SolverMetrics } from './metrics.js'
import { createQuoteSigner } from './quote-signer.js'
import { createQuoting, type Quoting } from './quoting.js'
import { registerEndpoint } from './registration.js'
import { hasSecretPath, withSecretPath } from './secret-path.js'
import { connectBySession } from './solver-connection.js'
import type { SolverAccount, SolverLog, SolverOptions } from './solver-options.js'
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
  readonly onQuoting: (quoting: Quoting, runs: readonly ChainRun[]) => void
}

/** What the parts of a solver share. */
interface Shared extends StartOptions {
  readonly account: SolverAccount
  readonly state: SolverState
  readonly protocolName: string
  readonly serviceUrls: readonly [string, ...string[]]
  readonly chainIds: readonly number[]
}

/** Often, so that each time is short. */
const PRUNE_MS = 60_000
/** What a market maker allows when it says nothing (docs/decisions.md, D23). */
const DEFAULT_LIMITS = { overcommit: 1, maxBondShare: 0.1, maxOpenBond: 0.5, maxAddressBondShare: 0.05 }
const DEFAULT_RULES = { minFillSeconds: 60, maxLockSeconds: 3_600 }

/** Starts all parts of a solver, one after the other. @returns when an instance asks it @throws as `Solver.start` */
export async function startSolver(start: StartOptions): Promise<void> {
  const { options, signal } = start
  const { protocolName = 'Service', quote } = options
  const signer = await createQuoteSigner(options.account, protocolName)
  const { account } = signer
  const state = openState(options.stateFile ?? ':memory:')
  start.addPart(() => state.close())
  start.addPart(pruneNowAndThen(state, start.clock))
  const serviceUrls = [options.aggregatorUrl].flat() as [string, ...string[]]
  const chainIds = Object.keys(options.chains).map(Number)
  const shared = { ...start, account, state, protocolName, serviceUrls, chainIds }
  const runs = await startChains(shared)
  signal.throwIfAborted()
  const chains = new Map(runs.map((run) => [run.chain.chainId, run]))
  const rules = givenOr(DEFAULT_RULES, options)
  const quoting = limitAnswers(createQuoting({ ...start, chains, signer, quote, rules }), start.metrics)
  start.onQuoting(quoting, runs)
  if (options.endpointUrl === undefined) await connect(shared, chains, quoting)
  else await register(shared, options.endpointUrl)
}

/** All are ended when one does not start. */
async function startChains(shared: Shared): Promise<ChainRun[]> {
  const { options, addPart, onError } = shared
  const { fill } = options
  const limits = givenOr(DEFAULT_LIMITS, options)
  const onFilled = guarded(options.onFilled, onError)
  const started = await Promise.allSettled(
    Object.entries(options.chains).map(async ([chainId, chainOptions]) => {
      const run = await startChainRun(Number(chainId), chainOptions, {
        ...shared,
        fill,
        limits,
        onFilled,
      })
      addPart(run.idle)
      return run
    }),
  )
  return started.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}

async function connect(
  shared: Shared,
  chains: ReadonlyMap<number, ChainRun>,
  quoting: Quoting,
): Promise<void> {
  const { options, onError, addPart } = shared
  const connection = connectBySession({
    ...shared,
    name: options.name,
    chains,
    quoting,
    onSession: guarded(options.onSession, onError),
    onResult: guarded(options.onResult, onError),
  })
  addPart(connection.close)
  await connection.opened
}

async function register(shared: Shared, endpointUrl: string): Promise<void> {
  const { options, serviceUrls, log } = shared
  if (!hasSecretPath(endpointUrl))
    log.warn(
      { endpointUrl, proposal: withSecretPath(endpointUrl) },
      'strangers can guess the endpoint: give its path a part that is random, as in the proposal, and keep it',
    )
  const terms = { ...shared, aggregatorUrls: serviceUrls, endpointUrl, name: options.name }
  for (const { chainId, check } of await registerEndpoint(terms))
    log.info({ chainId, ...check }, 'endpoint registered')
}

function pruneNowAndThen(state: SolverState, clock: Clock): () => void {
  const prune = () => state.prune(Math.floor(clock.now() / 1000))
  prune()
  return clock.setInterval(prune, PRUNE_MS).unref().stop
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
