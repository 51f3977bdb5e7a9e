import { computed, effect, signal, untracked } from '@preact/signals'
import { BASE_URL } from './api.js'
import { isReachable, isVisible, now } from './clock.js'
import { addEvent } from './latest-events.js'
import { retryPause, spread } from './request-times.js'
import type { ChainHealth, NoticeMessage, OrderEvent } from './stream-messages.js'

/** Whether events come, and since when not. */
export interface Connection {
  readonly state: 'connecting' | 'open' | 'lost'
  /** When a message came, Unix time in milliseconds. */
  readonly aliveAt: number | undefined
}

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 10_000
/** Events of this time are shown together: a flood of them must not keep the page busy. */
const SHOW_EVERY_MS = 200
/** The health comes about every 15 s. A stream without any message for this long has broken unnoticed. */
const SILENCE_MS = 35_000
/** A sign of life within this time of the last one is no news. */
const ALIVE_EVERY_MS = 1000
/** The cursor is no longer known. */
const POLICY_VIOLATION = 1008

export const connection = signal<Connection>({ state: 'connecting', aliveAt: undefined })
/** Whether the stream of events is open. */
export const isFollowing = computed(() => connection.value.state === 'open')
/** How often the stream has opened. */
export const openings = signal(0)
/** How the chains are, as the stream last reported it. */
export const reportedHealth = signal<readonly ChainHealth[] | undefined>(undefined)
/** When the stream last began without a cursor, Unix time in milliseconds. Events of before may be missing. */
export const beganAt = signal(0)
/** The latest events, newest first. */
export const latestEvents = signal<readonly OrderEvent[]>([])

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
}

/** @returns ends it */
function follow(): () => void {
  let socket: WebSocket | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let failures = 0
  let deadAt = Number.POSITIVE_INFINITY

  function open(): void {
    const url = new URL('v1/ws?health=true', BASE_URL.replace(/^http/, 'ws'))
    if (cursor !== undefined) url.searchParams.set('after', cursor)
    socket = new WebSocket(url)
    deadAt = Date.now() + spread(SILENCE_MS)
    socket.onmessage = ({ data }) => {
      failures = 0
      deadAt = Date.now() + spread(SILENCE_MS)
      reportAlive()
      take(JSON.parse(data))
    }
    socket.onclose = ({ code }) => {
      if (code === POLICY_VIOLATION) cursor = undefined
      openLater()
    }
  }

  function openLater(): void {
    leave()
    connection.value = { state: 'lost', aliveAt: connection.peek().aliveAt }
    const pause = retryPause(++failures, { firstMs: FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS })
    timer = setTimeout(open, pause)
  }

  /** Closes the socket. It does not report its end any more, which a broken connection reports late. */
  function leave(): void {
    deadAt = Number.POSITIVE_INFINITY
    if (socket === undefined) return
    socket.onclose = null
    socket.onmessage = null
    socket.close()
  }

  open()
  const stopWatch = effect(() => {
    if (Math.max(now.value, Date.now()) >= deadAt) untracked(openLater)
  })
  return () => {
    stopWatch()
    clearTimeout(timer)
    leave()
    const state = isReachable.peek() ? 'connecting' : 'lost'
    connection.value = { state, aliveAt: connection.peek().aliveAt }
  }
}

function reportAlive(): void {
  const { state, aliveAt = 0 } = connection.peek()
  if (state !== 'open' || aliveAt < Date.now() - ALIVE_EVERY_MS)
    connection.value = { state: 'open', aliveAt: Date.now() }
}

function take(message: OrderEvent | NoticeMessage): void {
  if (message.type === 'connected') {
    if (cursor === undefined) beganAt.value = Date.now()
    cursor = message.cursor
    openings.value++
    return
  }
  cursor = message.cursor
  if (message.type === 'Health') {
    reportedHealth.value = message.chains
    return
  }
  waiting.push(message)
  if (waiting.length === 1) setTimeout(show, shownAt + SHOW_EVERY_MS - Date.now())
}

function show(): void {
  shownAt = Date.now()
  const events = waiting
  waiting = []
  latestEvents.value = events.reduce(addEvent, latestEvents.peek())
  for (const event of events) for (const listener of listeners) listener(event)
}
