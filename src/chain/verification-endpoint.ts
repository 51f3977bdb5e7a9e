import { encodeFunctionData, zeroAddress } from 'viem'
import { settlementAbi } from '../../gen/contracts/settlement.js'
import { coalesce } from '../concurrency/coalesce.js'
import { type Address, toQuantity } from '../domain/hex.js'
import { type Quote, type SignedQuote, toContractQuote } from '../domain/quote.js'
import { createHttpRpcConnection } from './http-rpc-connection.js'
import { createRetryAfterPause, EndpointPausedError } from './retry-after.js'
import { revertOf } from './revert-data.js'
import { AnswerTooLongError, type RpcAnswer } from './rpc-connection.js'
import { createWsRpcConnection } from './ws-rpc-connection.js'

/** One JSON-RPC endpoint of a chain, for the calls of `deposit`. */
export interface VerificationEndpoint {
  /**
   * Calls `deposit` as the user of the quote, at the head. The endpoint is checked before the first call, after a call without an
   * answer, and after a minute.
   * @throws UnsuitableEndpointError, AnswerTooLongError; other errors when there is no answer
   */
  callDeposit(offer: Pick<SignedQuote, 'quote' | 'signature'>, signal: AbortSignal): Promise<RpcAnswer>
  close(): void
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
/**
 * The shortest pause after the node has refused a call because of its limits. Without it, the calls of one second after the other
 * would use up the limits, and the reads of events would be refused as well.
 */
const REFUSED_PAUSE_MS = 1000
/** Codes of errors by which providers refuse calls: EIP-1474 and Infura, Alchemy, QuickNode. */
const LIMIT_CODES: readonly unknown[] = [-32005, 429, -32007]

/** A quote that every contract refuses: nothing for nothing, until 1970, without a signature. */
const EMPTY_QUOTE: Quote = {
  solver: zeroAddress,
  user: zeroAddress,
  inputToken: zeroAddress,
  inputAmount: 0n,
  outputToken: zeroAddress,
  outputAmount: 0n,
  orderType: 'EXACT_INPUT',
  outputChainId: 0,
  depositDeadline: 0,
  fillDeadline: 0,
  nonce: 0n,
}

/**
 * Builds the endpoint. To pass a check, it must have the right chain id and report that the contract refuses an empty quote. A node
 * without the contract, or one that returns reverts as results, would accept every quote.
 */
export function createVerificationEndpoint(
  url: string,
  { chainId, settlement }: { readonly chainId: number; readonly settlement: Address },
): VerificationEndpoint {
  const pause = createRetryAfterPause(REFUSED_PAUSE_MS)
  const connection = /^wss?:/i.test(url)
    ? createWsRpcConnection(url, pause.note)
    : createHttpRpcConnection(url, pause.note)
  let passedAt = Number.NEGATIVE_INFINITY
  const passedSince = (ms: number) => performance.now() - passedAt < ms

  /** @throws EndpointPausedError when the node refuses calls, and the errors of the connection */
  async function call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<RpcAnswer> {
    pause.assertOver()
    const answer = await connection.call(method, params, signal)
    if (isLimit(answer)) {
      pause.begin()
      pause.assertOver()
    }
    return answer
  }

  function callDeposit({ quote, signature }: Pick<SignedQuote, 'quote' | 'signature'>, signal: AbortSignal) {
    const data = encodeFunctionData({
      abi: settlementAbi,
      functionName: 'deposit',
      args: [toContractQuote(quote), signature],
    })
    const transaction = { from: quote.user, to: settlement, gas: toQuantity(GAS), data }
    return call('eth_call', [transaction, 'latest'], signal)
  }

  const check = coalesce(async () => {
    if (passedSince(RECHECK_MS)) return
    const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS)
    const [chain, refusal] = await Promise.all([
      call('eth_chainId', [], signal),
      callDeposit({ quote: EMPTY_QUOTE, signature: '0x' }, signal),
    ])
    const issue = issueIn(chain, refusal)
    passedAt = issue === undefined ? performance.now() : Number.NEGATIVE_INFINITY
    if (issue !== undefined) throw new UnsuitableEndpointError(issue)
  })

  function issueIn(chain: RpcAnswer, refusal: RpcAnswer): string | undefined {
    if (hasFailed(chain) || hasFailed(refusal)) return 'it answers a check with an error of its own'
    if (Number(chain.result) !== chainId) return 'it serves another chain'
    if (revertOf(refusal.error) === undefined) return 'it does not report that an empty quote is refused'
    return undefined
  }

  return {
    async callDeposit(offer, signal) {
      if (!passedSince(CHECK_HOLDS_MS)) await untilAborted(check(), signal)
      else if (!passedSince(RECHECK_MS)) check().catch(() => {})
      try {
        return await callDeposit(offer, signal)
      } catch (error) {
        const hasAnswered = error instanceof AnswerTooLongError || error instanceof EndpointPausedError
        if (!hasAnswered && !signal.aborted) passedAt = Number.NEGATIVE_INFINITY
        throw error
      }
    },
    close: connection.close,
  }
}

function isLimit({ error }: RpcAnswer): boolean {
  return LIMIT_CODES.includes((error as { readonly code?: unknown } | null | undefined)?.code)
}

/** Whether an answer is an error, and no revert. */
function hasFailed({ error }: RpcAnswer): boolean {
  return error !== undefined && error !== null && revertOf(error) === undefined
}

/** @throws the reason of the signal when it is aborted first; the promise itself goes on */
function untilAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort)
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
