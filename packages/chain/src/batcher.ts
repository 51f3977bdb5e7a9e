import type { Clock } from '../../protocol/src/clock.js'
import { inParts } from '../../protocol/src/values/parts.js'
import { type HttpExchange, reasonOf } from './http-exchange.js'
import {
  type Call,
  type CallLimits,
  hasRun,
  isRecord,
  lost,
  type NodeContext,
  namesRate,
  RpcError,
  resultOf,
  toMessage,
  toRpcError,
} from './json-rpc.js'

interface QueuedCall extends Call {
  readonly limits: CallLimits
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** A call of a batch that got no answer there, or an error that may be about the batch. */
interface FailedCall {
  readonly call: QueuedCall
  readonly error: RpcError
}

/**
 * Builds the batcher, which sends calls over HTTP. Both functions throw RpcError, or the reason of the signal. No status and
 * no code is known for a refusal of batches: the table at `deliverBatch` says what tells it.
 */
export function createBatcher(post: HttpExchange['post'], { words, clock }: NodeContext) {
  const size = createBatchSize(clock)
  let queue: QueuedCall[] = []
  let lastId = 0

  async function deliver(calls: readonly QueuedCall[]): Promise<void> {
    const [first, ...rest] = calls
    const most = size.current()
    if (first === undefined) return
    if (rest.length === 0) return void (await sendAlone(first))
    if (calls.length > most) return void (await Promise.all([...inParts(calls, most)].map(deliver)))
    return deliverBatch(calls)
  }

  /**
   * Sends a batch. No call fails because a node refuses batches (docs/decisions.md, D22).
   *
   * | the batch | its first failed call, alone | the other failed calls | the size |
   * |---|---|---|---|
   * | each call is answered, or reverts | | | is accepted |
   * | is not answered in time, or refused with a time to wait | | fail, and the first one too | is in doubt once any call was answered alone |
   * | has some answers, and errors of a rate | | fail, and the first one too | nothing |
   * | is refused, or has errors | gets no answer, nor does the next one | fail | nothing |
   * | is refused, or has errors | gets no answer, but the next one does | are sent again | nothing |
   * | is refused, or has errors | has the same error | go alone | nothing |
   * | is refused, or has errors | is answered, or has another error | are sent again | is in doubt |
   *
   * A batch that fails although the size was in doubt when it was sent halves the size. One that is accepted ends the doubt, unless it is
   * smaller than what has failed. So a silent node says nothing of the size: it answers no call alone.
   */
  async function deliverBatch(calls: readonly QueuedCall[]): Promise<void> {
    const batch = size.beginBatch(calls.length)
    const failed = await sendBatch(calls)
    const [first, ...rest] = failed
    if (first === undefined) return batch.accepted()
    const mustWait = first.error.isTimeout || first.error.retryAfterMs !== undefined
    if (mustWait) batch.refused()
    // More calls would pass a rate again that was reached within the batch.
    const isOfRate = failed.length < calls.length && failed.some(({ error }) => namesRate(error))
    if (mustWait || isOfRate) return rejectAll(failed)
    const alone = await sendAlone(first.call)
    const others = rest.map(({ call }) => call)
    if (isOfNode(alone)) {
      // The node may be down, or fail at this call only.
      const [next, ...later] = others
      if (next === undefined || isOfNode(await sendAlone(next))) return rejectAll(rest)
      return deliver(later)
    }
    // The error is that of the first call, and the node may have refused the others for its sake.
    if (alone !== undefined && isSame(alone, first.error))
      return void (await Promise.all(others.map(sendAlone)))
    batch.refused()
    size.answeredAlone()
    return deliver(others)
  }

  /** Sends a batch, and passes on its answers. @returns the calls that have failed in it */
  async function sendBatch(calls: readonly QueuedCall[]): Promise<FailedCall[]> {
    const firstId = lastId + 1
    lastId += calls.length
    try {
      const messages = calls.map((call, index) => toMessage(firstId + index, call))
      const answers = await post(JSON.stringify(messages), sharedLimits(calls))
      if (!Array.isArray(answers)) throw refusalIn(answers)
      const byId = new Map(answers.map((answer) => [isRecord(answer) && String(answer.id), answer]))
      return calls.flatMap((call, index) => settle(call, byId.get(String(firstId + index))))
    } catch (error) {
      const failure = error instanceof RpcError ? error : lost(words(reasonOf(error)))
      return calls.map((call) => ({ call, error: failure }))
    }
  }

  function refusalIn(answer: unknown): RpcError {
    const error = isRecord(answer) ? answer.error : undefined
    return error === undefined ? lost('the batch has no answers') : toRpcError(error, words)
  }

  /** Passes on an answer of a batch. @returns the call when it has failed */
  function settle(call: QueuedCall, answer: unknown): FailedCall[] {
    try {
      call.resolve(resultOf(answer, words))
    } catch (error) {
      if (!hasRun(error as RpcError)) return [{ call, error: error as RpcError }]
      call.reject(error)
    }
    return []
  }

  async function callAlone(call: Call, limits: CallLimits): Promise<unknown> {
    return resultOf(await post(JSON.stringify(toMessage(++lastId, call)), limits), words)
  }

  /** Sends a call alone, and passes on its answer. @returns the error, unless the node has answered */
  async function sendAlone(call: QueuedCall): Promise<RpcError | undefined> {
    try {
      call.resolve(await callAlone(call, call.limits))
      size.answeredAlone()
      return undefined
    } catch (error) {
      call.reject(error)
      return error instanceof RpcError && !hasRun(error) ? error : undefined
    }
  }

  return {
    /** Sends a call in a batch with the others of this turn of the event loop. One with a signal goes alone. */
    call(call: Call, limits: CallLimits): Promise<unknown> {
      if (limits.signal !== undefined) return callAlone(call, limits)
      return new Promise((resolve, reject) => {
        if (queue.length === 0)
          setImmediate(() => {
            void deliver(queue)
            queue = []
          })
        queue.push({ ...call, limits, resolve, reject })
      })
    },
    callAlone,
    /** Whether the node takes batches, as far as its answers show. */
    takesBatches: size.takesBatches,
  }
}

/** Whether a call has got no answer at all. */
function isOfNode(error: RpcError | undefined): boolean {
  return error?.kind === 'lost' || error?.kind === 'refused'
}

function isSame(a: RpcError, b: RpcError): boolean {
  return a.code === b.code && a.message === b.message
}

function rejectAll(failed: readonly FailedCall[]): void {
  for (const { call, error } of failed) call.reject(error)
}

/** The widest limits of some calls. */
function sharedLimits(calls: readonly QueuedCall[]): CallLimits {
  const widest = (limit: 'maxBytes' | 'timeoutMs') => Math.max(...calls.map(({ limits }) => limits[limit]))
  return { maxBytes: widest('maxBytes'), timeoutMs: widest('timeoutMs') }
}

const MOST_CALLS = 50
const GROWS_AFTER_MS = 60_000

/**
 * Builds the number of calls that a node takes in one batch, as far as its answers show (docs/decisions.md, D22). It is 50 at first and in
 * doubt, half of it after two refusals, and twice as many after each minute without one.
 */
function createBatchSize(clock: Clock) {
  let most = MOST_CALLS
  let changedAt = clock.monotonic()
  /** The calls of the batch that has failed last, and whether a call alone was answered since; undefined when all is well. */
  let doubt: { readonly calls: number; readonly isAnsweredAlone: boolean } | undefined

  function current(): number {
    const isCalm = clock.monotonic() - changedAt >= GROWS_AFTER_MS
    if (most < MOST_CALLS && isCalm) {
      change(most * 2)
      // So many have failed before.
      doubt = { calls: most, isAnsweredAlone: true }
    }
    return most
  }

  function change(calls: number): void {
    most = Math.min(MOST_CALLS, Math.max(1, calls))
    changedAt = clock.monotonic()
  }

  return {
    /** At most so many calls go into the next batch; 1 for none. */
    current,
    /** Notes that a batch of so many calls is sent. @returns what notes how it ends */
    beginBatch(calls: number): { accepted(): void; refused(): void } {
      const sent = { most, isInDoubt: doubt?.isAnsweredAlone === true }
      return {
        accepted() {
          if (calls >= Math.min(doubt?.calls ?? 0, most)) doubt = undefined
        },
        refused() {
          // Of several batches that were under way, each has the same size.
          change(sent.isInDoubt ? Math.min(most, Math.floor(sent.most / 2)) : most)
          doubt = { calls, isAnsweredAlone: false }
        },
      }
    },
    /** Notes that the node has answered a call alone. */
    answeredAlone(): void {
      if (doubt !== undefined) doubt = { ...doubt, isAnsweredAlone: true }
    },
    /** Whether the node takes batches. */
    takesBatches: (): boolean => current() > 1 && doubt?.isAnsweredAlone !== true,
  }
}
