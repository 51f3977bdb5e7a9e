import { numberToHex } from 'viem'
import { createEnding } from '../ending/ending.js'
import { createFilling } from '../orders/filling.js'
import type { AskedQuote } from '../risk/quote-ledger.js'
import type { IncomingRequest } from '../session/wire-forms.js'
import type { ChainSettings } from '../settings.js'
import type { SolverParts } from '../start-solver.js'
import { approveTokens } from '../transactions/approvals.js'
import { within } from '../waiting.js'
import { type ChainParts, openParts } from './chain-parts.js'
import { readHead } from './chain-time.js'
import { pollDeposits } from './deposit-poller.js'
import { failed, readChain, type SolverChain } from './open-chain.js'
import { openNode } from './open-node.js'
import { inPlace } from './pacing.js'

/** A solver at work on one chain: what it has, what it has promised, and the orders that it pays. */
export type ChainRun = Awaited<ReturnType<typeof startChainRun>>

/** Time for what is under way when the solver is closed. */
const CLOSING_MS = 1_000
/** Fees above `maxFeePerGas` may make an approval wait for hours. */
const APPROVALS_MS = 60_000
const CALLS_AT_START = 100
/** A quote that leaves time enough to end all others. */
const LONG_WINDOW = { depositDeadline: 0, fillDeadline: Number.POSITIVE_INFINITY, isForAddress: false }

/**
 * Connects to a chain, sends what a stopped process may have left unsent, and pays and ends from then on what it has left. It
 * quotes only after `prepare`.
 * @throws Error with the node's words, and Error for a chain or an account that does not fit
 */
export async function startChainRun(chainId: number, chainOptions: ChainSettings, shared: SolverParts) {
  const node = openNode(chainOptions.rpc, shared.clock)
  const { options, account } = shared
  try {
    const chain = await readChain(chainId, chainOptions, node, options.protocolName, account.address)
    return run(await openParts(chain, shared))
  } catch (error) {
    node.close()
    throw error
  }
}

function run(parts: ChainParts) {
  const { chain, state, ledger, time, payments, addresses, losses, onError, report } = parts
  const filling = createFilling(parts)
  const ending = createEnding(parts, filling)
  payments.resume()
  ending.resume()
  filling.resume()
  const ended = pollDeposits(parts, filling, onBlock)
  let isLookingBack = false
  let isPrepared = false

  async function onBlock(): Promise<void> {
    // A look may wait for slow answers, and must not hold up the next block. Nothing that fails here may keep quotes from their end.
    ending.look()
    void inPlace('LATER', lookBack)
    await parts.refresh()
    state.prune(chain.chainId, time.passed())
  }

  /** What fails is looked at again at the next block. Orders come first: their payments are sent again by themselves. */
  async function lookBack(): Promise<void> {
    if (isLookingBack) return
    isLookingBack = true
    const onFailed = (error: unknown) => report('look back', error)
    await filling.lookBack().catch(onFailed)
    await payments.lookBack(ending.reopen).catch(onFailed)
    isLookingBack = false
  }

  function pause(): string | undefined {
    if (!isPrepared) return 'the chain is not ready'
    const isBlind = time.isBlind(chain.pollIntervalMs)
    if (isBlind) report('blind', new Error(`the node of chain ${chain.chainId} does not answer`))
    if (time.isStale()) return 'the newest block is old'
    return isBlind ? 'the node does not answer' : undefined
  }

  return {
    ...parts,
    filling,
    /**
     * Puts approvals in place, and reads what the solver has: only then it may quote. An approval that takes long goes on: it keeps no
     * other token waiting, and no other chain.
     * @throws Error with the node's words
     */
    async prepare(): Promise<void> {
      await learnPace(chain)
      await within(parts.clock, APPROVALS_MS, approveTokens(chain, parts.solver, payments, parts))
      // The approvals are in the newest blocks.
      time.see(await readHead(chain))
      await parts.refresh().catch(failed(`chains[${chain.chainId}].rpc must show what ${parts.solver} has`))
      await ending.learn()
      const fields = { chainId: chain.chainId, keepsTokens: addresses.known() ?? 'not known yet' }
      parts.log.info(fields, 'whether the contract keeps the tokens of cancelled quotes at their addresses')
      isPrepared = true
    },
    /** What is too low for a further quote. */
    shortageFor: (asked: AskedQuote) => ledger.shortageFor(asked, addresses.keepsTokens(), losses.ofDay()),
    /** Why no quote at all would be signed at present. */
    pause: () => pause() ?? ending.pauseFor(LONG_WINDOW),
    /** Why a quote may not be signed at present. */
    pauseFor(asked: IncomingRequest): string | undefined {
      const why = pause()
      if (why !== undefined) return why
      if (losses.hasMissed(asked))
        return 'missed orders in the output token have cost too much, or were of this user'
      if (asked.isForAddress && losses.areAddressesDeclined())
        return 'a deposit address has cost a part of the bond'
      return ending.pauseFor(asked)
    },
    timesCancelled: ending.timesCancelled,
    cancelQuotes: ending.cancelQuotes,
    /** @returns when nothing runs any more, after the signal has aborted; or soon, when a node or a market maker does not answer */
    async idle(): Promise<void> {
      const ends = [ended, filling.idle(), ending.idle()]
      await within(parts.clock, CLOSING_MS, Promise.all(ends).catch(onError))
      chain.close()
    },
  }
}

/** Makes more calls at once than are ever needed: a node must not show its limit only when all orders are due. */
async function learnPace({ client }: SolverChain): Promise<void> {
  const addresses = Array.from({ length: CALLS_AT_START }, (_, index) => numberToHex(index + 1, { size: 20 }))
  await Promise.allSettled(addresses.map((address) => client.getBalance({ address })))
}
