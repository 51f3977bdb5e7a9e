import { AggregatorError } from '../../client/src/calls/aggregator-error.js'
import { retryDelay } from '../../client/src/calls/retry-delay.js'
import { createAggregatorClient } from '../../client/src/client.js'
import { signRegistration } from '../../client/src/solvers/sign-registration.js'
import { type ChainRun, startChainRun } from './chain/chain-run.js'
import { createAnswerBudget } from './quoting/answer-budget.js'
import { createQuoteSigner } from './quoting/quote-signer.js'
import { createQuoting, type Quoting } from './quoting/quoting.js'
import { hasSecretPath, withSecretPath } from './quoting/secret-path.js'
import { instanceSentence } from './session/instance-text.js'
import { connectBySession } from './solver-connection.js'
import type { ChainOptions, SolverOptions } from './solver-options.js'
import { HOOKS, type Hooks, type SolverParts } from './solver-parts.js'
import { MEMORY, openState } from './state.js'

interface StartOptions extends Pick<SolverParts, 'clock' | 'metrics' | 'log' | 'onError' | 'signal'> {
  readonly options: SolverOptions
  /** The end of each part that has been started. */
  readonly parts: (() => Promise<void> | void)[]
  /** Called when requests can be answered: an instance may ask before it has accepted the solver. */
  readonly onQuoting: (quoting: Quoting) => void
  /** The chains that run, by id. */
  readonly chains: Map<number, ChainRun>
}

/** What the parts of a solver share. */
interface Shared extends StartOptions, SolverParts {
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

/**
 * Starts all parts of a solver, one after the other. What is owed is paid from the moment its chain runs, whatever becomes of the rest.
 * @returns when an instance asks it
 * @throws as `Solver.start`
 */
export async function startSolver(start: StartOptions): Promise<void> {
  const { options, signal } = start
  const { protocolName = 'Service', quote, mayFill, acceptLess } = options
  // What a market maker allows when it says nothing (docs/decisions.md, D23).
  const { overcommit = 1, maxBondShare = 0.1, maxOpenBond = 0.5, maxAddressBondShare = 0.05 } = options
  const { minFillSeconds = 60, maxLockSeconds = 3_600 } = options
  const signer = await createQuoteSigner(options.account, protocolName, start.clock)
  const { account } = signer
  if (options.stateFile === undefined)
    start.log.warn({}, 'without stateFile, a restart forgets open quotes, and each of them can be slashed')
  const state = openState(options.stateFile ?? MEMORY)
  start.parts.push(() => state.close())
  const serviceUrls = [options.aggregatorUrl].flat() as [string, ...string[]]
  const chainIds = Object.keys(options.chains).map(Number)
  for (const { chainId, count } of state.countOpen())
    if (!chainIds.includes(chainId)) start.onError(new Error(leftBehind(chainId, count)))
  const limits = { overcommit, maxBondShare, maxOpenBond, maxAddressBondShare }
  const hooks = Object.fromEntries(
    HOOKS.map((name) => [name, guarded<never>(options[name], start.onError)]),
  ) as unknown as Hooks
  const own = { account, state, protocolName, limits, mayFill, acceptLess, hooks }
  const shared = { ...start, ...own, serviceUrls, chainIds }
  await startChains(shared)
  signal.throwIfAborted()
  const budget = createAnswerBudget(start.clock)
  const rules = { minFillSeconds, maxLockSeconds }
  const quoting = createQuoting({ ...start, signer, quote, rules, budget })
  start.onQuoting(quoting)
  if (options.endpointUrl !== undefined) return register(shared, options.endpointUrl)
  await connectBySession({
    ...shared,
    name: options.name,
    quoting,
    onSession: guarded(options.onSession, start.onError),
    onResult: guarded(options.onResult, start.onError),
  })
}

const leftBehind = (chainId: number, count: number) =>
  `the stateFile has ${count} open quotes and orders of chain ${chainId}, which is not in chains: nothing ends or pays them`

/** @returns when each chain has started or failed; one that failed is tried again @throws the first error when none is ready */
async function startChains(shared: Shared): Promise<void> {
  const failures = new Map<number, unknown>()
  const { chainIds, onError } = shared
  const start = (chainId: number) => startChain(shared, chainId)
  await Promise.all(chainIds.map((id) => start(id).catch((error) => failures.set(id, error))))
  for (const [chainId, error] of failures) {
    if (failures.size === chainIds.length) throw error
    onError(error)
    void keepTrying(shared, () => start(chainId)).catch(() => {})
  }
}

/** Starts what of a chain does not run yet. */
async function startChain(shared: Shared, chainId: number): Promise<void> {
  const { options, parts, chains } = shared
  let run = chains.get(chainId)
  if (run === undefined) {
    run = await startChainRun(chainId, options.chains[chainId] as ChainOptions, shared)
    chains.set(chainId, run)
    parts.push(run.idle)
  }
  await run.prepare()
}

/** Registers on each chain (docs/decisions.md, D5). After a failure the next URL is tried, as with a session. */
async function register(shared: Shared, endpointUrl: string): Promise<void> {
  const { account, log, chainIds, protocolName, options, serviceUrls, onError } = shared
  if (!hasSecretPath(endpointUrl))
    log.warn(
      { endpointUrl, proposal: withSecretPath(endpointUrl) },
      'strangers can guess the endpoint: give its path a part that is random, as in the proposal, and keep it',
    )
  const terms = { protocolName, endpointUrl, name: options.name }
  for (const chainId of chainIds) {
    const { check } = await keepTrying(shared, async (attempt) => {
      const baseUrl = serviceUrls[attempt % serviceUrls.length] as string
      const signed = await signRegistration(account, { ...terms, chainId })
      return createAggregatorClient({ baseUrl }).registerSolver(signed)
    })
    const [outcome, explanation] = [check?.outcome, check?.explanation].map((text = '') =>
      instanceSentence(text),
    )
    log.info({ chainId, outcome, explanation }, 'endpoint registered')
    // No offer of it would be taken.
    if (outcome === 'INVALID' || outcome === 'FAILED')
      onError(new Error(`chain ${chainId}: the endpoint is registered, but its check says: ${explanation}`))
  }
}

/** Tries again after a growing time, or the one that the instance asks for. @throws a refusal that the same attempt would get again, and the signal's reason */
async function keepTrying<T>(
  { clock, signal, onError }: Shared,
  attempt: (failures: number) => Promise<T>,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    signal.throwIfAborted()
    try {
      return await attempt(failures)
    } catch (error) {
      if (signal.aborted || (error instanceof AggregatorError && FINAL_REFUSALS.includes(error.reason)))
        throw error
      onError(error)
      await clock.sleep(retryDelay(failures, error as Error), signal)
    }
  }
}

/** A callback that throws, or whose promise is rejected or never ends, must not stop what calls it. */
export function guarded<T>(
  callback: ((value: T) => unknown) | undefined,
  onError: (error: unknown) => void,
): (value: T) => void {
  return (value) => void (async () => callback?.(value))().catch(onError)
}
