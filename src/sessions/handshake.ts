import type { Clock } from '../../packages/protocol/src/clock.js'
import { invalidArgument, type ServiceError, toServiceError } from '../../packages/protocol/src/errors.js'
import type { Hello, OpeningCall, SessionConnection, SessionPeer, SolverMessage } from './messages.js'
import { assertProof, challengeExpired, createChallenge, type ProofRules } from './proof.js'
import type { Session } from './session.js'

interface HandshakeOptions {
  readonly connection: SessionConnection
  readonly call: OpeningCall
  readonly rules: ProofRules
  /** Registers the solver and sends `ready`. @returns undefined when `isGone` says that the solver has left */
  readonly open: (hello: Hello, isGone: () => boolean) => Promise<Session | undefined>
  readonly onRefused: (error: ServiceError) => void
  /** Called once, when the hello was accepted or refused, or the solver has left before. */
  readonly onSettled: () => void
  readonly clock: Clock
}

/** How long the hello may take. */
const HELLO_TIMEOUT_MS = 5000

/** Begins a connection: sends the challenge, checks one hello, opens the session and passes further messages to it. */
export function startHandshake(options: HandshakeOptions): SessionPeer {
  const { connection, call, rules, open, onRefused, onSettled, clock } = options
  let state: 'waiting' | 'checking' | 'open' | 'ended' = 'waiting'
  let session: Session | undefined
  const challenge = createChallenge(clock.now())
  const timer = clock.setTimeout(() => refuse(challengeExpired()), HELLO_TIMEOUT_MS)

  function settle(next: 'open' | 'ended'): void {
    state = next
    timer.stop()
    onSettled()
  }

  function refuse(thrown: unknown): void {
    if (state === 'ended') return
    const error = toServiceError(thrown)
    settle('ended')
    onRefused(error)
    call.onDecided(error.reason)
    connection.end(error)
  }

  async function greet(read: () => SolverMessage): Promise<void> {
    state = 'checking'
    timer.stop()
    const message = read()
    if (message.type !== 'hello') throw unexpected('must be hello in the first message')
    assertProof(message.hello, challenge, rules, { ...call, now: clock.now() })
    const opened = await open(message.hello, hasEnded)
    if (opened === undefined) return
    if (hasEnded()) return opened.end()
    settle('open')
    session = opened
    call.onDecided('OK')
  }

  function hasEnded(): boolean {
    return state === 'ended'
  }

  connection.send({ type: 'challenge', nonce: challenge.nonce, serverTime: challenge.sentAt })
  return {
    receive(read) {
      if (state === 'waiting') greet(read).catch(refuse)
      else if (state === 'checking') refuse(unexpected('must not come between hello and ready'))
      else session?.receive(read)
    },
    reject(error) {
      if (session === undefined) refuse(error)
      else session.end(error)
    },
    leave() {
      session?.end()
      if (state === 'waiting' || state === 'checking') settle('ended')
    },
  }
}

function unexpected(message: string): ServiceError {
  return invalidArgument([{ field: 'type', message }])
}
