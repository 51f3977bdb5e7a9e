import { AsyncLocalStorage } from 'node:async_hooks'
import { RpcError, rpcErrorIn, toRpcError } from '../../../chain/src/json-rpc.js'
import type { Clock } from '../../../protocol/src/clock.js'
import { partsOf } from '../../../protocol/src/node/revert.js'

/**
 * How much longer than payments other calls wait where a node takes few: `PAY` sends transactions, and `LATER` may wait for some blocks.
 * None waits for ever.
 */
const PATIENCE_MS = { PAY: 0, READ: 4_000, LATER: 20_000 }
const patience = new AsyncLocalStorage<number>()

/** Gives a place to all calls that the work makes. What says nothing reads. */
export const inPlace = <T>(place: keyof typeof PATIENCE_MS, work: () => T): T =>
  patience.run(PATIENCE_MS[place], work)

/** Makes a call of JSON-RPC. */
export type Send = (call: {
  readonly method: string
  readonly params?: readonly unknown[]
}) => Promise<unknown>

const SECOND_MS = 1_000
/** A node that refuses all calls for a while must not end the pace. */
const LEAST_A_SECOND = 5
/** So often one call is made again after a refusal for its rate, and after another failure on its way. */
const REPEATS = { refused: 5, lost: 2 }
const FIRST_PAUSE_MS = 150
/** After so long without a refusal, a quarter more is tried. */
const FASTER_AFTER_MS = 10_000

/** Builds what sends the calls of a node at its pace. It sends all at once until the node refuses a call for its rate, and then as many as were taken. */
export function createPacing(clock: Clock) {
  /** The earliest one comes first, by the clock that is never set. */
  const waiting: { readonly due: number; readonly start: () => void }[] = []
  /** When the calls of the last second were sent. */
  const sent: number[] = []
  let perSecond = Number.POSITIVE_INFINITY
  let changedAt = 0
  let heldUntil = 0
  let isTimed = false

  function pump(): void {
    const now = clock.monotonic()
    while ((sent[0] ?? now) <= now - SECOND_MS) sent.shift()
    if (waiting.length > 0 && now - changedAt > FASTER_AFTER_MS) {
      perSecond = Math.ceil(perSecond * 1.25)
      changedAt = now
    }
    while (waiting.length > 0 && now >= heldUntil && sent.length < perSecond) {
      sent.push(now)
      waiting
        .sort((one, other) => one.due - other.due)
        .shift()
        ?.start()
    }
    if (waiting.length === 0 || isTimed) return
    isTimed = true
    const freeAt = sent.length < perSecond ? 0 : (sent.at(-perSecond) ?? now) + SECOND_MS
    clock.setTimeout(() => {
      isTimed = false
      pump()
    }, Math.max(heldUntil, freeAt) - now)
  }

  /** The calls of a second that were not refused are what the node takes. */
  function slowDown({ retryAfterMs = SECOND_MS }: Partial<RpcError>): void {
    const now = clock.monotonic()
    if (now >= heldUntil) perSecond = Math.min(perSecond, sent.length)
    perSecond = Math.max(LEAST_A_SECOND, perSecond - 1)
    changedAt = now
    heldUntil = Math.max(heldUntil, now + retryAfterMs)
  }

  return {
    /** How many calls the node takes in a second, as far as its refusals show. */
    callsPerSecond: () => perSecond,
    /** Makes each call when its turn has come, and again when it was refused for its rate or lost. It throws what the call throws. */
    paced:
      (ask: Send): Send =>
      async (call) => {
        const due = clock.monotonic() + (patience.getStore() ?? PATIENCE_MS.READ)
        for (let failures = 0; ; failures++) {
          await new Promise<void>((start) => {
            waiting.push({ due, start })
            pump()
          })
          try {
            return await ask(call)
          } catch (error) {
            const refusal = rateLimitIn(error)
            const most = refusal !== undefined ? REPEATS.refused : mayPass(error) ? REPEATS.lost : 0
            if (failures >= most) throw error
            if (refusal !== undefined) slowDown(refusal)
            else await clock.sleep(FIRST_PAUSE_MS * 2 ** failures)
          }
        }
      },
  }
}

/** The refusal of a node that limits the rate of calls, also by a transport of the market maker's own. */
function rateLimitIn(error: unknown): Partial<RpcError> | undefined {
  // The innermost answer is the node's.
  const answer = partsOf(error).findLast(({ code, status }) => typeof (code ?? status) === 'number')
  const { code = answer?.status, message, data } = answer ?? {}
  const refusal = rpcErrorIn(error) ?? toRpcError({ code, message, data }, String)
  return refusal.isRateLimit ? refusal : undefined
}

/** A market maker's own transport says what it repeats. A node that is late is slow already. */
function mayPass(error: unknown): boolean {
  return error instanceof RpcError && !error.isTimeout && (error.kind === 'refused' || error.kind === 'lost')
}
