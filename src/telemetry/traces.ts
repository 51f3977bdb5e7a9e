import type { Clock } from '../../packages/protocol/src/clock.js'
import { limitTime } from '../concurrency/time-limits.js'
import type { TraceConfig } from '../config/traces.js'
import type { Logger } from './log.js'
import type { Metrics } from './metrics.js'
import { type Trace, toRequestBody } from './otlp-json.js'

/** Sends traces to a collector (docs/decisions.md, D35). */
export type Traces = ReturnType<typeof createTraces>

interface TracesOptions {
  readonly target: TraceConfig
  /** Counts what is sent and what is dropped. */
  readonly spans: Metrics['traceSpans']
  readonly log: Logger
  readonly clock: Clock
}

const INTERVAL_MS = 5000
/** Spans that may wait. More are dropped, when the collector is slower than the quotes. */
const MAX_WAITING = 2048
const SEND_MS = 10_000
/** How long the end of the service waits for the collector. */
const LAST_SEND_MS = 2000

/** Starts to send what is added, several traces at once. What cannot be sent is dropped and counted, and never thrown. */
export function createTraces({ target, spans, log, clock }: TracesOptions) {
  let waiting: (() => Trace)[] = []
  /** Spans of the traces that wait. */
  let waitingSpans = 0
  let sending: Promise<void> | undefined
  let isFailing = false
  const end = new AbortController()

  const count = (result: 'sent' | 'dropped', number: number) => spans.inc({ result }, number)
  // The series must exist before the first dropped span, so that its rate is visible from then on.
  count('sent', 0)
  count('dropped', 0)

  async function send(): Promise<void> {
    if (waiting.length === 0) return
    const [batch, number] = [waiting, waitingSpans]
    waiting = []
    waitingSpans = 0
    const limit = limitTime(SEND_MS, end.signal, clock)
    try {
      await post(target, toRequestBody(batch.map((toTrace) => toTrace())), limit.signal)
      count('sent', number)
      if (isFailing) log.info('traces are sent again')
      isFailing = false
    } catch (error) {
      count('dropped', number)
      if (!isFailing) log.warn({ reason: reasonOf(error) }, 'traces cannot be sent')
      isFailing = true
    }
    limit.end()
  }

  const timer = clock.setInterval(() => {
    sending ??= send().finally(() => {
      sending = undefined
    })
  }, INTERVAL_MS)

  return {
    /** Has a trace sent soon. It costs a push to an array: the trace is built when it is sent. @param number of its spans */
    add(number: number, toTrace: () => Trace): void {
      if (waitingSpans + number > MAX_WAITING) count('dropped', number)
      else {
        waitingSpans += number
        waiting.push(toTrace)
      }
    },
    /** Sends what waits, within two seconds. */
    async close(): Promise<void> {
      timer.stop()
      const limit = clock.setTimeout(() => end.abort(), LAST_SEND_MS)
      await sending
      await send()
      limit.stop()
    },
  }
}

async function post({ url, authorization }: TraceConfig, body: string, signal: AbortSignal): Promise<void> {
  const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) }
  const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' })
  await response.body?.cancel()
  if (!response.ok) throw new Error(`status ${response.status}`)
}

/** Why a batch was not sent, without the URL. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? message
}
