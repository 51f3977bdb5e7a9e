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
/** Events of this time are shown together: a flood of them must not keep the page busy. */
const SHOW_EVERY_MS = 200
/** A sign of life within this time of the last one is no news. */
const ALIVE_EVERY_MS = 1000
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
let waiting: OrderEvent[] = []
let shownAt = 0

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
      reportAlive()
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

function reportAlive(): void {
  const { state, aliveAt = 0 } = connection.peek()
  if (state !== 'open' || aliveAt < Date.now() - ALIVE_EVERY_MS)
    connection.value = { state: 'open', aliveAt: Date.now() }
}

function take(message: OrderEvent | { readonly type: 'connected'; readonly cursor: string }): void {
  if (message.type === 'connected') {
    if (cursor === undefined) beganAt.value = Date.now()
    cursor = message.cursor
    openings.value++
    return
  }
  cursor = message.cursor
  waiting.push(message)
  if (waiting.length === 1) setTimeout(show, shownAt + SHOW_EVERY_MS - Date.now())
}

function show(): void {
  shownAt = Date.now()
  const events = waiting
  waiting = []
  tape.value = events.reduce<readonly TapeEntry[]>(
    (entries, event) => addEvent(entries, event, shownAt),
    tape.peek(),
  )
  for (const event of events) for (const listener of listeners) listener(event)
}
