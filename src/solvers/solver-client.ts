import { Agent, buildConnector, type Dispatcher } from 'undici'
import type { Solver } from '../domain/solver.js'
import type { EndpointGuard } from './endpoint-guard.js'

/** What came of calling a solver. */
export type SolverReply =
  | { readonly kind: 'replied'; readonly body: unknown }
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'failed'; readonly message: string }

/** Calls solvers over connections that are kept open. */
export interface SolverClient {
  /**
   * Posts a quote request to `<endpoint>/quote`. Never throws: what went wrong is in the reply.
   * @param body JSON text
   * @param signal ends the call; the reply is then `failed`
   */
  ask(solver: Solver, body: string, signal: AbortSignal): Promise<SolverReply>
  close(): Promise<void>
}

interface Target {
  readonly origin: string
  readonly path: string
}

const MAX_REPLY_BYTES = 64 * 1024
const MAX_HEADER_BYTES = 16 * 1024
const CONNECT_TIMEOUT_MS = 5000
const HEADERS = { 'content-type': 'application/json', accept: 'application/json' }

/**
 * Builds the client: pooled keep-alive connections, no redirects, replies of at most 64 KiB (decisions.md D10).
 * @param guard judges every connection before it is made
 */
export function createSolverClient(guard: EndpointGuard): SolverClient {
  const agent = new Agent({
    connect: createGuardedConnector(guard),
    maxResponseSize: MAX_REPLY_BYTES,
    maxHeaderSize: MAX_HEADER_BYTES,
  })
  const targets = new WeakMap<Solver, Target>()

  function targetOf(solver: Solver): Target {
    const known = targets.get(solver)
    if (known !== undefined) return known
    const url = new URL(`${solver.endpointUrl.replace(/\/$/, '')}/quote`)
    const target = { origin: url.origin, path: url.pathname }
    targets.set(solver, target)
    return target
  }

  return {
    async ask(solver, body, signal) {
      try {
        const response = await agent.request({
          ...targetOf(solver),
          method: 'POST',
          headers: HEADERS,
          body,
          signal,
        })
        return await readReply(response, signal)
      } catch (error) {
        return { kind: 'failed', message: error instanceof Error ? error.message : String(error) }
      }
    },
    close: () => agent.destroy(),
  }
}

async function readReply(response: Dispatcher.ResponseData, signal: AbortSignal): Promise<SolverReply> {
  if (response.statusCode !== 200) {
    response.body.dump({ limit: MAX_REPLY_BYTES, signal }).catch(() => {})
    return { kind: 'refused', status: response.statusCode }
  }
  const text = await response.body.text()
  try {
    return { kind: 'replied', body: JSON.parse(text) }
  } catch {
    return { kind: 'malformed' }
  }
}

function createGuardedConnector(guard: EndpointGuard): buildConnector.connector {
  const connectorFor = (protocol: string) =>
    buildConnector({ lookup: guard.lookupFor(protocol), timeout: CONNECT_TIMEOUT_MS })
  const connectTls = connectorFor('https:')
  const connectPlain = connectorFor('http:')
  return (options, callback) => {
    try {
      guard.assertDiallable(options.protocol, options.hostname)
    } catch (error) {
      callback(error as Error, null)
      return
    }
    const connect = options.protocol === 'https:' ? connectTls : connectPlain
    connect(options, callback)
  }
}
