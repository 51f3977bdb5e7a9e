import { retryDelay } from '../../client/src/calls/retry-delay.js'
import { type ChainRun, startChainRun } from './chain/chain-run.js'
import { createAnswerBudget } from './quoting/answer-budget.js'
import { createOwnAnswers } from './quoting/own-answers.js'
import { createQuoteSigner } from './quoting/quote-signer.js'
import { createQuoting, type Quoting } from './quoting/quoting.js'
import { registerEndpoint } from './quoting/register-endpoint.js'
import { openSolverSession } from './session/solver-session.js'
import type { ChainSettings } from './solver-options.js'
import { chainIdsOf, type SolverParts } from './solver-parts.js'
import { MEMORY, openState } from './state.js'
import { keepTrying } from './waiting.js'

/** What of a solver runs. */
export interface Running {
  /** By id. */
  readonly chains: Map<number, ChainRun>
  /** The ends of what has been started, the last one last. */
  readonly ends: (() => Promise<void> | void)[]
  /** Answers requests: an instance may ask before it has accepted the solver. */
  quoting?: Quoting | undefined
}

/**
 * Starts all parts of a solver, one after the other. What is owed is paid from the moment its chain runs, whatever becomes of the rest.
 * @returns when an instance asks it
 * @throws as `Solver.start`
 */
export async function startSolver(
  start: Omit<SolverParts, 'account' | 'state'>,
  running: Running,
): Promise<void> {
  const { options, clock, log, onError, signal } = start
  const signer = await createQuoteSigner(options.account, options.protocolName, clock)
  if (options.stateFile === undefined)
    log.warn({}, 'without stateFile, a restart forgets open quotes, and each of them can be slashed')
  const state = openState(options.stateFile ?? MEMORY)
  running.ends.push(() => state.close())
  for (const { chainId, count } of state.countOpen())
    if (options.chains[chainId] === undefined) onError(new Error(leftBehind(chainId, count)))
  const parts: SolverParts = { ...start, account: signer.account, state }
  await startChains(parts, running)
  signal.throwIfAborted()
  const { chains } = running
  const quoting = createQuoting(parts, chains, signer.sign, createAnswerBudget(clock))
  running.quoting = quoting
  if (options.endpointUrl !== undefined) return registerEndpoint(parts, options.endpointUrl)
  const session = openSolverSession(parts, createOwnAnswers(parts, quoting))
  running.ends.push(session.close)
  // After that, a final loss goes to `onSession` only.
  await session.opened
}

const leftBehind = (chainId: number, count: number) =>
  `the stateFile has ${count} open quotes and orders of chain ${chainId}, which is not in chains: nothing ends or pays them`

/** @returns when each chain has started or failed; one that failed is tried again @throws the first error when none is ready */
async function startChains(parts: SolverParts, { chains, ends }: Running): Promise<void> {
  const failures = new Map<number, unknown>()
  const chainIds = chainIdsOf(parts.options)
  await Promise.all(chainIds.map((id) => start(id).catch((error) => failures.set(id, error))))
  for (const [chainId, error] of failures) {
    if (failures.size === chainIds.length) throw error
    parts.onError(error)
    void keepTrying(parts, () => start(chainId), retryDelay).catch(() => {})
  }

  /** Starts what of a chain does not run yet. */
  async function start(chainId: number): Promise<void> {
    let run = chains.get(chainId)
    if (run === undefined) {
      run = await startChainRun(chainId, parts.options.chains[chainId] as ChainSettings, parts)
      chains.set(chainId, run)
      ends.push(run.idle)
    }
    await run.prepare()
  }
}
