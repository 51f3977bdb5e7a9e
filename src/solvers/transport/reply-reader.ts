import type { Dispatcher } from 'undici'
import type { HttpFailReason } from '../../domain/solvers/solver-result.js'
import { shorten } from '../../domain/values/text.js'
import { failReasonOf } from './fail-reason.js'
import type { CallListener } from './solver-client.js'

/** The text of an error may come from the solver, such as the names in its certificate. */
const MAX_FAILURE_LENGTH = 200

/** What came of a call over HTTP: a `SolverReply`. */
export type HttpReply =
  | { readonly kind: 'replied'; readonly body: unknown }
  | { readonly kind: 'declined'; readonly status: number }
  | { readonly kind: 'invalid'; readonly reason: 'malformed' }
  | { readonly kind: 'failed'; readonly reason: HttpFailReason; readonly message: string }
  | { readonly kind: 'cancelled' }

interface ReplyReaderOptions {
  /** Called once. */
  readonly onReply: (reply: HttpReply) => void
  readonly listener: CallListener
  /** Sends the request again, with this reader, if its error allows that. @returns whether it does */
  readonly repeat: (error: Error) => boolean
}

/** Reads the parts of one reply from undici. */
export class ReplyReader implements Dispatcher.DispatchHandler {
  readonly #chunks: Buffer[] = []
  readonly #listener: CallListener
  readonly #repeat: ReplyReaderOptions['repeat']
  /** Undefined after the reply. */
  #onReply: ReplyReaderOptions['onReply'] | undefined
  #isSent = false
  #isAborted = false
  /** The controller of the request while it is open. */
  #controller: Dispatcher.DispatchController | undefined

  constructor({ onReply, listener, repeat }: ReplyReaderOptions) {
    this.#onReply = onReply
    this.#listener = listener
    this.#repeat = repeat
  }

  /** Ends a call that has not begun. */
  skip(): void {
    this.#reply({ kind: 'cancelled' })
    this.#listener.onEnd?.()
  }

  /** Ends the call when its signal is aborted. A request that is not sent yet is never sent. */
  handleEvent(): void {
    this.#isAborted = true
    this.#reply({ kind: 'cancelled' })
    this.#controller?.abort(new Error('The call was ended.'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isAborted) controller.abort(new Error('The call was ended.'))
    // The time of the solver begins with the first request. Otherwise, it could work on that one and answer a repetition at once.
    else if (!this.#isSent) this.#listener.onSent?.()
    this.#isSent = true
  }

  onResponseStart(_controller: unknown, status: number): void {
    // The body of a declined request is read and dropped, so that the connection can be used again.
    if (status !== 200 && status >= 200) this.#reply({ kind: 'declined', status })
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#onReply !== undefined) this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    this.#controller = undefined
    if (this.#onReply !== undefined) this.#reply(parseReply(this.#chunks))
    this.#listener.onEnd?.()
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#controller = undefined
    if (this.#onReply !== undefined && this.#repeat(error)) return
    this.#reply({
      kind: 'failed',
      reason: failReasonOf(error),
      message: shorten(error.message, MAX_FAILURE_LENGTH),
    })
    this.#listener.onEnd?.()
  }

  #reply(reply: HttpReply): void {
    this.#onReply?.(reply)
    this.#onReply = undefined
  }
}

function parseReply(chunks: readonly Buffer[]): HttpReply {
  const [only] = chunks
  const bytes = only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks)
  try {
    return { kind: 'replied', body: JSON.parse(bytes.toString()) }
  } catch {
    return { kind: 'invalid', reason: 'malformed' }
  }
}
