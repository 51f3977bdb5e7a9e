import type { Clock } from '../../protocol/src/clock.js'
import { inParts } from '../../protocol/src/values/parts.js'
import { type HttpExchange, reasonOf } from './http-exchange.js'
import {
  type Call,
  type CallLimits,
  hasRun,
  isRecord,
  lost,
  namesRate,
  RpcError,
  resultOf,
  toMessage,
  toRpcError,
  type Words,
} from './json-rpc.js'

/** Sends calls over HTTP. Both functions throw RpcError, or the reason of the signal. */
interface Batcher {
  /** Sends a call in a batch with the others of this turn of the event loop. One with a signal goes alone. */
  call(call: Call, limits: CallLimits): Promise<unknown>
  callAlone(call: Call, limits: CallLimits): Promise<unknown>
  /** Whether the node takes batches, as far as its answers show. */
  takesBatches(): boolean
}

interface BatcherOptions {
  readonly post: HttpExchange['post']
  readonly words: Words
  readonly clock: Clock
}

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
 * Builds the batcher. When a node refuses a batch, none of its calls fails for that: the first one is tried alone. If the node answers it
 * otherwise than in the batch, the batch was the reason, and the others are sent in smaller ones (docs/decisions.md, D22). No status and
 * no code is known for a refusal of batches. After a time-out or a limit of rates, the calls of the batch fail, and the next call is
 * tried alone.
 */
export function createBatcher({ post, words, clock }: BatcherOptions): Batcher {
  const size = createBatchSize(clock)
  let queue: QueuedCall[] = []
  let lastId = 0
  /** The calls of a batch that has failed when no call could be tried alone at once; 0 for none. */
  let doubted = 0

  async function deliver(calls: readonly QueuedCall[]): Promise<void> {
    const [first, ...rest] = calls
    const most = size.current()
    if (first === undefined) return
    if (rest.length === 0) return void (await sendAlone(first))
    if (calls.length > most) return void (await Promise.all([...inParts(calls, most)].map(deliver)))
    if (doubted === 0) return deliverBatch(calls)
    const inDoubt = doubted
    doubted = 0
    if ((await sendAlone(first)) === undefined) size.refused(inDoubt)
    return deliver(rest)
  }

  async function deliverBatch(calls: readonly QueuedCall[]): Promise<void> {
    const failed = await sendBatch(calls)
    const [first, ...rest] = failed
    if (first === undefined) return size.accepted()
    const { isTimeout, retryAfterMs } = first.error
    const mustWait = isTimeout || retryAfterMs !== undefined
    if (mustWait) doubted = calls.length
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
    size.refused(calls.length)
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
      return undefined
    } catch (error) {
      call.reject(error)
      return error instanceof RpcError && !hasRun(error) ? error : undefined
    }
  }

  return {
    call(call, limits) {
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
/** How often batches must fail of which a single call is answered. */
const STRIKES = 2
const GROWS_AFTER_MS = 10 * 60_000

/** How many calls a node takes in one batch, as far as its answers show (docs/decisions.md, D22). */
interface BatchSize {
  /** At most so many calls go into the next batch; 1 for none. */
  current(): number
  /** Notes that each call of a batch was answered. */
  accepted(): void
  /** Notes that a batch of so many calls has failed and one of them was answered alone. */
  refused(calls: number): void
  /** Whether the node takes batches. */
  takesBatches(): boolean
}

/** Builds the size: 50 calls at first, half of what was refused twice, twice as many after ten minutes. */
function createBatchSize(clock: Pick<Clock, 'monotonic'>): BatchSize {
  let most = MOST_CALLS
  let changedAt = clock.monotonic()
  let strikes = 0

  function change(calls: number): void {
    most = Math.min(MOST_CALLS, Math.max(1, calls))
    changedAt = clock.monotonic()
    strikes = 0
  }

  function current(): number {
    if (most < MOST_CALLS && clock.monotonic() - changedAt >= GROWS_AFTER_MS) change(most * 2)
    return most
  }

  return {
    current,
    accepted() {
      strikes = 0
    },
    refused(calls) {
      strikes++
      if (strikes >= STRIKES) change(Math.min(most, Math.floor(calls / 2)))
    },
    takesBatches: () => current() > 1 && strikes === 0,
  }
}
