import { effect, signal } from '@preact/signals'
import { BASE_URL } from './api.js'
import { isReachable, isVisible, reachedAt } from './clock.js'
import type { OrderEvent } from './order-event.js'
import { addEvent, type TapeEntry } from './tape.js'

/** Whether events come, and since when not. */
export interface Connection {
  readonly state: 'connecting' | 'open' | 'lost'
  /** When an event came, or the instance answered while the stream was open. Unix time in milliseconds. */
  readonly aliveAt: number | undefined
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000
/** The cursor is no longer known. */
const POLICY_VIOLATION = 1008

export const connection = signal<Connection>({ state: 'connecting', aliveAt: undefined })
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
      timer = setTimeout(open, Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures++))
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
  cursor = message.cursor
  if (message.type === 'connected') return
  tape.value = addEvent(tape.peek(), message, Date.now())
  for (const listener of listeners) listener(message)
}
