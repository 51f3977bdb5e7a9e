import { SolverService } from '../../../gen/aggregator/v1/solver_pb.js'
import { assertSupported, invalidArgument } from '../../../packages/protocol/src/errors.js'
import { MAX_SESSION_CHAINS } from '../../../packages/protocol/src/field-rules.js'
import { DISPLAY_NAME } from '../../../packages/protocol/src/values/display-name.js'
import { originsOf } from '../../../packages/protocol/src/values/origin.js'
import type { CallContext, Protocol } from '../../clients/call.js'
import type { Hello, SessionConnection, SessionPeer } from '../../sessions/messages.js'
import type { Sessions } from '../../sessions/sessions.js'
import type { Metrics } from '../../telemetry/metrics.js'
import type { ReadHello } from '../convert/convert-sessions.js'
import { Fields } from '../fields.js'
import type { LimitedCall, RateLimits } from '../limits/rate-limits.js'
import type { Outcome } from '../method.js'

/** The method OpenSession, for both transports (docs/decisions.md, D18). */
export type SolverSessions = ReturnType<typeof createSolverSessions>

/** What a session needs of the call that opens it. */
type SessionCall = Pick<CallContext, 'protocol' | 'requestId' | 'client' | 'host'>

interface SolverSessionsOptions {
  readonly sessions: Pick<Sessions, 'assertAvailable' | 'accept' | 'endWhenIdle'>
  readonly supportedChains: readonly number[]
  readonly rateLimits: RateLimits
  readonly metrics: Metrics
}

/** Builds the method. A connection counts as a request when its hello was accepted or refused. */
export function createSolverSessions(options: SolverSessionsOptions) {
  const { sessions, supportedChains, rateLimits, metrics } = options
  const desc = SolverService.method.openSession
  const method = `${desc.parent.typeName}/${desc.name}`
  const count = (protocol: Protocol, reason: Outcome) => metrics.requests.inc({ method, protocol, reason })

  return {
    desc,
    readHello: createReadHello(supportedChains),
    async checkLimits(call: LimitedCall): Promise<void> {
      await rateLimits.consume('sessions', call)
      sessions.assertAvailable(call.client)
    },
    count(protocol: Protocol, outcome: Outcome): void {
      // The metric of the limits has these.
      if (outcome !== 'RATE_LIMITED') count(protocol, outcome)
    },
    /**
     * Begins a session on a connection that was admitted.
     * @throws ServiceError SESSIONS_OFF, SHUTTING_DOWN or SESSION_LIMIT_REACHED
     */
    accept(connection: SessionConnection, { protocol, requestId, client, host }: SessionCall): SessionPeer {
      return sessions.accept(connection, {
        protocol,
        client,
        requestId,
        origins: originsOf(host),
        onDecided: (result) => count(protocol, result),
      })
    },
    /** Ends the sessions, each when none of its requests is open. */
    endWhenIdle: sessions.endWhenIdle,
  }
}

/** Builds the reader of an instance's hellos. */
function createReadHello(supportedChains: readonly number[]): ReadHello {
  return (message, malformed = []) => {
    const chainIds = message.chainIds.map(Number)
    for (const chainId of chainIds) assertSupported(chainId, supportedChains)
    const fields = new Fields(malformed)
    if (
      chainIds.length < 1 ||
      chainIds.length > MAX_SESSION_CHAINS ||
      new Set(chainIds).size < chainIds.length
    )
      fields.addViolation('chainIds', `must be 1 to ${MAX_SESSION_CHAINS} chain ids, each once`)
    const audience = fields.origin('audience', message.audience)
    const hello: Hello = {
      address: fields.address('address', message.address),
      name: fields.text('name', message.name, DISPLAY_NAME),
      audience,
      chainIds,
      signature: fields.signature('signature', message.signature),
      events: message.events && { after: message.events.after || undefined },
    }
    if (fields.violations.length > 0) throw invalidArgument(fields.violations)
    return hello
  }
}
