import { createHmac } from 'node:crypto'
import type { OrderEvent } from '@quote-aggregator/client'
import type { Clock } from '../../../protocol/src/clock.js'
import { badInput, CommandFailure } from '../command-failure.js'
import { formatDuration, toJson } from '../output/printable.js'

/** Why forwarding ends (docs/decisions.md, D34). After the last two, another start does not help. */
export const ENDED = { passing: 1, receiverGone: 2, placeLost: 3 } as const

/** Sends a message once. @returns why it is not delivered: the status, or words; undefined when it is */
type Post = (id: string, body: string) => Promise<number | string | undefined>

const ANSWER_MS = 10_000
const PAUSE_MS = { first: 5_000, longest: 3_600_000 }
const PATIENCE_MS = 3 * 86_400_000
/** The last time that a date has. */
const LAST_SECOND = 8_640_000_000_000

/** Reads secrets of Standard Webhooks: one, or two during a rotation. @throws CommandFailure */
export function parseSecrets(text: string): readonly Buffer[] {
  const words = text.trim().split(/\s+/)
  const secrets = words.map((word) => Buffer.from(/^whsec_([\w+/]+=*)$/.exec(word)?.[1] ?? '', 'base64'))
  if (secrets.length <= 2 && secrets.every(({ length }) => length >= 24 && length <= 64)) return secrets
  const message = '--secret-file must have one or two secrets: whsec_ and 24 to 64 bytes in base64.'
  throw badInput(message)
}

/** Builds the sender of signed messages. It follows no redirect. An answer after 10 s does not count. */
export function createPost(to: string, secrets: readonly Buffer[], clock: Clock): Post {
  return async (id, body) => {
    const timestamp = `${Math.floor(clock.now() / 1000)}`
    const sign = (secret: Buffer) =>
      `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': secrets.map(sign).join(' '),
    }
    const signal = clock.timeoutSignal(ANSWER_MS)
    try {
      const answer = await fetch(to, { method: 'POST', redirect: 'manual', signal, headers, body })
      void answer.body?.cancel().catch(() => {})
      return answer.ok ? undefined : answer.status
    } catch (error) {
      return String(Object(error).cause ?? error)
    }
  }
}

/**
 * Sends an event until it is delivered.
 * @param pause waits for a time in milliseconds, after a failure in words; it throws to end this
 * @throws CommandFailure when the receiver is gone, three days were in vain, or the cursor must not be signed
 */
export async function deliver(
  event: OrderEvent,
  post: Post,
  clock: Clock,
  pause: (ms: number, failure: string) => Promise<void>,
): Promise<void> {
  // The instance chooses the cursor, and points part the signed text.
  const id = event.cursor.replaceAll('.', '~')
  if (!/^[A-Za-z0-9_~-]{1,128}$/.test(id))
    throw new CommandFailure(ENDED.placeLost, 'The instance has sent a cursor that must not be signed.')
  const { type, blockTime } = event
  const timestamp = blockTime && new Date(Math.min(blockTime, LAST_SECOND) * 1000)
  const body = toJson({ type, timestamp, data: event })
  const end = clock.monotonic() + PATIENCE_MS
  for (let ms = PAUSE_MS.first; ; ms = Math.min(2 * ms, PAUSE_MS.longest)) {
    const problem = await post(id, body)
    if (problem === undefined) return
    if (problem === 410) throw new CommandFailure(ENDED.receiverGone, 'The receiver answers 410: it is gone.')
    if (clock.monotonic() + ms > end)
      throw new CommandFailure(ENDED.passing, `The receiver has taken nothing for three days: ${problem}.`)
    await pause(ms, `The receiver has not taken an event: ${problem}. Again in ${formatDuration(ms)}.`)
  }
}
