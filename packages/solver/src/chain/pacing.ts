import { AsyncLocalStorage } from 'node:async_hooks'
import { type RpcError, rpcErrorIn, toRpcError } from '../../../chain/src/json-rpc.js'
import type { Clock } from '../../../protocol/src/clock.js'
import { partsOf } from '../../../protocol/src/node/revert.js'

/** Whose calls come first where a node takes few: `PAY` sends transactions, and `LATER` may wait for some blocks. */
type Place = 'PAY' | 'READ' | 'LATER'

const PLACES: readonly Place[] = ['PAY', 'READ', 'LATER']
/** Of so many calls, one is that which waits longest: none waits for ever. */
const OLDEST_EACH = 4
const places = new AsyncLocalStorage<Place>()

/** Makes a call of JSON-RPC. */
export type Send = (call: {
  readonly method: string
  readonly params?: readonly unknown[]
}) => Promise<unknown>

/** Gives a place to all calls that the work makes. What says nothing reads. */
export const inPlace = <T>(place: Place, work: () => T): T => places.run(place, work)

interface Waiting {
  readonly key: string
  readonly answer: Promise<unknown>
  place: Place
  readonly send: () => void
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
    const isOldest = ++turn % OLDEST_EACH === 0
    const place = PLACES.find((place) => waiting.some((call) => call.place === place))
    const index = isOldest ? 0 : waiting.findIndex((call) => call.place === place)
    return waiting.splice(index, 1)[0]
  }

  function pump(): void {
    const now = clock.monotonic()
    while ((sent[0] ?? now) <= now - SECOND_MS) sent.shift()
    if (waiting.length > 0 && perSecond < Number.POSITIVE_INFINITY && now - changedAt > FASTER_AFTER_MS) {
      perSecond = Math.ceil(perSecond * 1.25)
      changedAt = now
    }
    while (waiting.length > 0 && now >= heldUntil && sent.length < perSecond) {
      sent.push(now)
      takeNext()?.send()
    }
    if (waiting.length === 0 || isTimed) return
    isTimed = true
    const freeAt = (sent.at(-perSecond) ?? now) + SECOND_MS
    const wake = () => {
      isTimed = false
      pump()
    }
    clock.setTimeout(wake, Math.max(heldUntil, sent.length < perSecond ? 0 : freeAt) - now)
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
    /**
     * Makes each call when its turn has come, and again when it was refused for its rate. Of equal calls that wait, one is made for all.
     * @returns throws what the call throws
     */
    paced:
      (ask: Send): Send =>
      (asked) => {
        const place = places.getStore() ?? 'READ'
        const key = JSON.stringify([asked.method, asked.params])
        const same = waiting.find((call) => call.key === key)
        if (same !== undefined) {
          if (PLACES.indexOf(place) < PLACES.indexOf(same.place)) same.place = place
          return same.answer
        }
        let refusals = 0
        let send = () => {}
        const answer = new Promise((resolve, reject) => {
          send = () =>
            void ask(asked).then(resolve, (error) => {
              const refusal = rateLimitIn(error)
              if (refusal === undefined || ++refusals > MOST_REFUSALS) return reject(error)
              slowDown(refusal)
              waiting.unshift(call)
              pump()
            })
        })
        const call: Waiting = { key, answer, place, send }
        waiting.push(call)
        pump()
        return answer
      },
  }
}

/** The refusal of a node that limits the rate of calls, also by a transport of the market maker's own. */
function rateLimitIn(error: unknown): Partial<RpcError> | undefined {
  const own = rpcErrorIn(error)
  if (own !== undefined) return own.isRateLimit ? own : undefined
  // The innermost one is the node's.
  const answer = partsOf(error).findLast(({ code, status }) => typeof (code ?? status) === 'number')
  if (answer === undefined) return undefined
  const { code = answer.status, message, data } = answer
  const refusal = toRpcError({ code, message, data }, String)
  return refusal.isRateLimit ? refusal : undefined
}
