import { computed, effect, signal } from '@preact/signals'
import { BASE_URL } from './api.js'
import { isReachable, isVisible, reachedAt } from './clock.js'
import type { OrderEvent } from './order-event.js'
import { retryPause } from './pacing.js'
import { addEvent, type TapeEntry } from './tape.js'

/** Whether events come, and since when not. */
export interface Connection {
  readonly state: 'connecting' | 'open' | 'lost'
  /** When an event came, or the instance answered while the stream was open. Unix time in milliseconds. */
  readonly aliveAt: number | undefined
}

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 10_000
/** The cursor is no longer known. */
const POLICY_VIOLATION = 1008

export const connection = signal<Connection>({ state: 'connecting', aliveAt: undefined })
/** Whether the stream of events is open. */
export const isFollowing = computed(() => connection.value.state === 'open')
/** How often the stream has opened. */
export const openings = signal(0)
/** When the stream last began without a cursor, Unix time in milliseconds. Events of before may be missing. */
export const beganAt = signal(0)
/** The latest events, newest first. */
export const tape = signal<readonly TapeEntry[]>([])

const listeners = new Set<(event: OrderEvent) => void>()
let cursor: string | undefined

/** Calls a listener with each event. @returns ends it */
export function onEvent(listener: (event: OrderEvent) => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Follows the events while the tab can be seen. After a break it goes on where it was. */
export function followEvents(): void {
  effect(() => {
    // An instance that does not answer may have left the socket half open: it is opened again afterwards.
    if (isVisible.value && isReachable.value) return follow()
  })
  // Markets are quiet at times: an instance that answers has no further event.
  effect(() => {
    const aliveAt = reachedAt.value
    if (connection.peek().state === 'open') connection.value = { state: 'open', aliveAt }
  })
}

/** @returns ends it */
function follow(): () => void {
  let socket: WebSocket | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let failures = 0
  let isEnded = false

  function open(): void {
    const url = new URL('v1/ws', BASE_URL.replace(/^http/, 'ws'))
    if (cursor !== undefined) url.searchParams.set('after', cursor)
    socket = new WebSocket(url)
    socket.onmessage = ({ data }) => {
      failures = 0
      connection.value = { state: 'open', aliveAt: Date.now() }
      take(JSON.parse(data))
    }
    socket.onclose = ({ code }) => {
      if (isEnded) return
      if (code === POLICY_VIOLATION) cursor = undefined
      connection.value = { state: 'lost', aliveAt: connection.peek().aliveAt }
      const pause = retryPause(++failures, { firstMs: FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS })
      timer = setTimeout(open, pause)
    }
  }

  open()
  return () => {
    isEnded = true
    clearTimeout(timer)
    socket?.close()
    const state = isReachable.peek() ? 'connecting' : 'lost'
    connection.value = { state, aliveAt: connection.peek().aliveAt }
  }
}

function take(message: OrderEvent | { readonly type: 'connected'; readonly cursor: string }): void {
  if (message.type === 'connected') {
    if (cursor === undefined) beganAt.value = Date.now()
    cursor = message.cursor
    openings.value++
    return
  }
  cursor = message.cursor
  tape.value = addEvent(tape.peek(), message, Date.now())
  for (const listener of listeners) listener(message)
}
