import { EMPTY_QUOTE } from '../../../packages/chain/src/contract/protocol-name.js'
import type { ContractPlace } from '../../../packages/chain/src/contract/verify-contract.js'
import { RpcError, within } from '../../../packages/chain/src/json-rpc.js'
import { createRpcEndpoint } from '../../../packages/chain/src/rpc-endpoint.js'
import type { Clock } from '../../../packages/protocol/src/clock.js'
import { revertOf } from '../../../packages/protocol/src/node/revert.js'
import type { BlockName } from '../../../packages/protocol/src/node/simulate.js'
import type { SignedQuote } from '../../../packages/protocol/src/quotes/quote.js'
import { settlementOf } from '../../../packages/protocol/src/settlement/settlement-of-chain.js'
import { toQuantity } from '../../../packages/protocol/src/values/hex.js'
import { coalesce } from '../../concurrency/one-at-a-time.js'

/** An answer of the node that is not validated: a result, or an error of JSON-RPC. */
export type RpcAnswer = { readonly result: unknown } | { readonly error: unknown }

/** One JSON-RPC endpoint of a chain, for the calls of `deposit`. */
export type VerificationEndpoint = ReturnType<typeof createVerificationEndpoint>

interface ReadLimits {
  readonly signal: AbortSignal
  /** Of the answer; 64 KiB when left out. */
  readonly maxBytes?: number
}

/** The answers of the endpoint say nothing about deposits on this chain. */
export class UnsuitableEndpointError extends Error {
  override readonly name = 'UnsuitableEndpointError'
}

/**
 * Gas of a call: several times the gas of a deposit. It bounds what a token can do to the node and to its answer: a revert
 * with all of it has about 1.5 MB.
 */
const GAS = 5_000_000
const CHECK_TIMEOUT_MS = 5000
/** How long a check holds: the node behind a URL may be replaced by one that is not synchronised yet. */
const CHECK_HOLDS_MS = 120_000
/** The age of a check from which the next one is made in the background, so that no call waits for it. */
const RECHECK_MS = 60_000
/** A known revert has less than 1 KB. */
const MAX_ANSWER_BYTES = 64 * 1024
/** Next to the budget of the chain's checks, which bounds the calls of `deposit`. */
const CHECK_CALLS = 2

/**
 * Builds the endpoint. To pass a check, it must have the right chain id and report that the contract refuses an empty quote. A node
 * without the contract, or one that returns reverts as results, would accept every quote.
 */
export function createVerificationEndpoint(
  url: string,
  { chainId, settlement }: ContractPlace,
  limits: { readonly maxInFlight: number; readonly timeoutMs: number; readonly clock: Clock },
) {
  const { clock } = limits
  const endpoint = createRpcEndpoint(url, {
    maxInFlight: limits.maxInFlight + CHECK_CALLS,
    maxBytes: MAX_ANSWER_BYTES,
    timeoutMs: Math.max(limits.timeoutMs, CHECK_TIMEOUT_MS),
    clock,
  })
  let passedAt = Number.NEGATIVE_INFINITY
  const passedSince = (ms: number) => clock.monotonic() - passedAt < ms

  async function call(method: string, params: readonly unknown[], limits: ReadLimits): Promise<RpcAnswer> {
    try {
      return { result: await endpoint.request(method, params, limits) }
    } catch (error) {
      if (error instanceof RpcError && error.kind === 'answered') return { error: error.answer }
      throw error
    }
  }

  function callDeposit(
    { quote, signature }: Pick<SignedQuote, 'quote' | 'signature'>,
    signal: AbortSignal,
    block: BlockName = 'latest',
  ) {
    const data = settlementOf(chainId).depositData(quote, signature)
    const transaction = { from: quote.user, to: settlement, gas: toQuantity(GAS), data }
    return call('eth_call', [transaction, block], { signal })
  }

  const check = coalesce(async () => {
    if (passedSince(RECHECK_MS)) return
    const signal = clock.timeoutSignal(CHECK_TIMEOUT_MS)
    const [chain, refusal] = await Promise.all([
      call('eth_chainId', [], { signal }),
      callDeposit({ quote: EMPTY_QUOTE, signature: '0x' }, signal),
    ])
    const issue = issueIn(chain, refusal)
    passedAt = issue === undefined ? clock.monotonic() : Number.NEGATIVE_INFINITY
    if (issue !== undefined) throw new UnsuitableEndpointError(issue)
  })

  function issueIn(chain: RpcAnswer, refusal: RpcAnswer): string | undefined {
    const isRefused = 'error' in refusal && revertOf(refusal.error) !== undefined
    if ('error' in chain || ('error' in refusal && !isRefused))
      return 'it answers a check with an error of its own'
    if (Number(chain.result) !== chainId) return 'it serves another chain'
    return isRefused ? undefined : 'it does not report that an empty quote is refused'
  }

  /** Makes a call of an endpoint that has passed its check. */
  async function afterCheck(signal: AbortSignal, work: () => Promise<RpcAnswer>): Promise<RpcAnswer> {
    if (!passedSince(CHECK_HOLDS_MS)) await within(clock, { timeoutMs: CHECK_TIMEOUT_MS, signal }, check())
    else if (!passedSince(RECHECK_MS)) check().catch(() => {})
    try {
      return await work()
    } catch (error) {
      const hasAnswered = error instanceof RpcError && (error.kind === 'too_long' || error.isRateLimit)
      if (!hasAnswered && !signal.aborted) passedAt = Number.NEGATIVE_INFINITY
      throw error
    }
  }

  return {
    /**
     * Calls `deposit` as the user of the quote, at the newest block or at the given one. The endpoint is checked before the first call, after a call without an
     * answer, and after a minute.
     * @throws UnsuitableEndpointError; RpcError when the answer is too long or there is none; the reason of the signal
     */
    callDeposit: (
      offer: Pick<SignedQuote, 'quote' | 'signature'>,
      signal: AbortSignal,
      block?: BlockName,
    ): Promise<RpcAnswer> => afterCheck(signal, () => callDeposit(offer, signal, block)),
    /**
     * Makes another call, after the same check.
     * @returns the result, not validated
     * @throws what `callDeposit` throws, and the error of JSON-RPC that the node has answered with
     */
    async read(method: string, params: readonly unknown[], limits: ReadLimits): Promise<unknown> {
      const answer = await afterCheck(limits.signal, () => call(method, params, limits))
      if ('error' in answer) throw answer.error
      return answer.result
    },
    close: endpoint.close,
  }
}
