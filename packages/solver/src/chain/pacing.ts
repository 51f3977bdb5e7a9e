import { AsyncLocalStorage } from 'node:async_hooks'
import { type RpcError, rpcErrorIn, toRpcError } from '../../../chain/src/json-rpc.js'
import type { Clock } from '../../../protocol/src/clock.js'
import { partsOf } from '../../../protocol/src/node/revert.js'

/** Whose calls come first where a node takes few: `PAY` sends transactions, and `LATER` may wait for some blocks. */
const PLACES = ['PAY', 'READ', 'LATER'] as const
type Place = (typeof PLACES)[number]

/** Of so many calls, one is that which waits longest: none waits for ever. */
const OLDEST_EACH = 4
const places = new AsyncLocalStorage<Place>()

/** Gives a place to all calls that the work makes. What says nothing reads. */
export const inPlace = <T>(place: Place, work: () => T): T => places.run(place, work)

/** Makes a call of JSON-RPC. */
export type Send = (call: {
  readonly method: string
  readonly params?: readonly unknown[]
}) => Promise<unknown>

interface Waiting {
  /** Of its place: the lowest one comes first. */
  readonly rank: number
  readonly start: () => void
}

const SECOND_MS = 1_000
/** A node that refuses all calls for a while must not end the pace. */
const LEAST_A_SECOND = 5
/** So often one call is sent again after a refusal for its rate. */
const MOST_REFUSALS = 5
/** After so long without a refusal, a quarter more is tried. */
const FASTER_AFTER_MS = 10_000

/** Builds what sends the calls of a node at its pace. It sends all at once until the node refuses a call for its rate, and then as many as were taken. */
export function createPacing(clock: Clock) {
  const waiting: Waiting[] = []
  /** When the calls of the last second were sent. */
  const sent: number[] = []
  let perSecond = Number.POSITIVE_INFINITY
  let leastOfBurst = 0
  let changedAt = 0
  let heldUntil = 0
  let turn = 0
  let isTimed = false

  function takeNext(): Waiting | undefined {
    const first = Math.min(...waiting.map(({ rank }) => rank))
    const isOldest = ++turn % OLDEST_EACH === 0
    return waiting.splice(isOldest ? 0 : waiting.findIndex(({ rank }) => rank === first), 1)[0]
  }

  function pump(): void {
    const now = clock.monotonic()
    while ((sent[0] ?? now) <= now - SECOND_MS) sent.shift()
    if (waiting.length > 0 && now - changedAt > FASTER_AFTER_MS) {
      perSecond = Math.ceil(perSecond * 1.25)
      changedAt = now
    }
    while (waiting.length > 0 && now >= heldUntil && sent.length < perSecond) {
      sent.push(now)
      takeNext()?.start()
    }
    if (waiting.length === 0 || isTimed) return
    isTimed = true
    const freeAt = sent.length < perSecond ? 0 : (sent.at(-perSecond) ?? now) + SECOND_MS
    const wake = () => {
      isTimed = false
      pump()
    }
    clock.setTimeout(wake, Math.max(heldUntil, freeAt) - now)
  }

  /** The calls of a second that were not refused are what the node takes; half of them, when it refuses all for a while. */
  function slowDown({ retryAfterMs = SECOND_MS }: Partial<RpcError>): void {
    const now = clock.monotonic()
    if (now >= heldUntil) {
      perSecond = Math.min(perSecond, sent.length)
      leastOfBurst = Math.max(LEAST_A_SECOND, perSecond / 2)
    }
    perSecond = Math.floor(Math.max(leastOfBurst, perSecond - 1))
    changedAt = now
    heldUntil = Math.max(heldUntil, now + retryAfterMs)
  }

  return {
    /** How many calls the node takes in a second, as far as its refusals show. */
    callsPerSecond: () => perSecond,
    /** Makes each call when its turn has come, and again when it was refused for its rate. It throws what the call throws. */
    paced:
      (ask: Send): Send =>
      async (call) => {
        const rank = PLACES.indexOf(places.getStore() ?? 'READ')
        for (let refusals = 0; ; refusals++) {
          await new Promise<void>((start) => {
            waiting.splice(refusals > 0 ? 0 : waiting.length, 0, { rank, start })
            pump()
          })
          try {
            return await ask(call)
          } catch (error) {
            const refusal = rateLimitIn(error)
            if (refusal === undefined || refusals === MOST_REFUSALS) throw error
            slowDown(refusal)
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
