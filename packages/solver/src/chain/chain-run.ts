import { numberToHex } from 'viem'
import { createEnding } from '../ending/ending.js'
import { createFilling } from '../orders/filling.js'
import type { IncomingRequest } from '../session/wire-forms.js'
import type { ChainSettings } from '../solver-options.js'
import type { SolverParts } from '../solver-parts.js'
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
  const { chain, state, time, payments, onError, report } = parts
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

  return {
    ...parts,
    filling,
    ending,
    /**
     * Puts approvals in place, and reads what the solver has: only then it may quote. An approval that takes long goes on: it keeps no
     * other token waiting, and no other chain.
     * @throws Error with the node's words
     */
    async prepare(): Promise<void> {
      await learnPace(chain)
      await within(parts.clock, APPROVALS_MS, approveTokens(parts), () => {})
      // The approvals are in the newest blocks.
      time.see(await readHead(chain))
      await parts.refresh().catch(failed(`chains[${chain.chainId}].rpc must show what ${parts.solver} has`))
      await ending.learn()
      isPrepared = true
    },
    /** Why a quote may not be signed at present; without one, why none at all would be. */
    pauseFor: (asked?: IncomingRequest) => (isPrepared ? ending.pauseFor(asked) : 'the chain is not ready'),
    /** @returns when nothing runs any more, after the signal has aborted; or soon, when a node or a market maker does not answer */
    async idle(): Promise<void> {
      const ends = Promise.all([ended, filling.idle(), ending.idle()])
      await within<unknown>(parts.clock, CLOSING_MS, ends.catch(onError), () => {})
      chain.close()
    },
  }
}

/** Makes more calls at once than are ever needed: a node must not show its limit only when all orders are due. */
async function learnPace({ client }: SolverChain): Promise<void> {
  const addresses = Array.from({ length: CALLS_AT_START }, (_, index) => numberToHex(index + 1, { size: 20 }))
  await Promise.allSettled(addresses.map((address) => client.getBalance({ address })))
}
