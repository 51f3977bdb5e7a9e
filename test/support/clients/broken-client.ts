import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { TestChain } from '../chain/chain.js'
import type { watchResources } from '../process/process-resources.js'
import { type AnswerProgress, readAnswer } from './answer-progress.js'
import type { Case } from './connection-breaks.js'

/** A connection to the service that has reached the stage of its case. */
export interface BrokenConnection {
  readonly socket: Socket
  readonly localPort: number
  /** The inode of the service's socket. Undefined when the connection has already ended. */
  readonly inode: string | undefined
}

interface Target {
  readonly port: number
  readonly chain: TestChain
  readonly resources: ReturnType<typeof watchResources>
  /** How many requests for an amount a solver holds open. */
  readonly held: (amount: string) => number
}

const REACH_MS = 10_000
const POLL_MS = 10

/** Repeats the request until the answer is true. @returns whether it became true within `ms` */
export async function within(ms: number, isTrue: () => Promise<boolean> | boolean): Promise<boolean> {
  const end = performance.now() + ms
  while (!(await isTrue())) {
    if (performance.now() > end) return false
    await pause(POLL_MS)
  }
  return true
}

/**
 * Connects and sends the bytes of the stage. Unless the break comes at once, waits until the service has read
 * them, or has answered as far as the stage says.
 * @param amount of a quote
 * @throws Error when the stage is not reached
 */
export async function openBroken(target: Target, one: Case, amount: string): Promise<BrokenConnection> {
  const { kind, stage, how } = one
  const socket = connect(target.port, '127.0.0.1')
  socket.on('error', () => {})
  const answer = readAnswer(socket, kind.protocol)
  await once(socket, 'connect')
  const localPort = socket.localPort ?? 0
  const bytes = stage.sent(kind.request({ chain: target.chain, amount, window: how.window }))
  if (how.isAtOnce) {
    socket.write(bytes, () => how.breakOff(socket))
    return { socket, localPort, inode: undefined }
  }
  socket.write(bytes)
  let inode: string | undefined
  const isThere = await within(REACH_MS, async () => {
    const peer = (await target.resources.look()).peers.get(localPort)
    inode = peer?.inode
    if (socket.readableEnded || socket.destroyed) return kind.outcome === 'any' || answer.isWhole
    if (peer === undefined) return false
    // The service does not read a rejected connection.
    return stage.isLast ? hasReached(one, answer, target.held(amount)) : peer.isRead || kind.outcome === 'any'
  })
  if (!isThere) throw new Error(`the stage was not reached, the response: ${JSON.stringify(answer)}`)
  if (!how.isReading || kind.outcome === 'answering') socket.pause()
  return { socket, localPort, inode }
}

function hasReached({ kind, how }: Case, answer: AnswerProgress, held: number): boolean {
  if (how.window === 0 && kind.outcome !== 'pending') return answer.hasHeaders
  switch (kind.outcome) {
    case 'pending':
      return held > 0
    case 'answered':
      return answer.isWhole
    case 'answering':
    case 'streaming':
      return answer.hasData
    case 'any':
      return answer.hasHeaders || held > 0
  }
}
