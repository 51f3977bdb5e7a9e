import type { Dispatcher } from 'undici'
import apiRequest from 'undici/lib/api/api-request.js'
import buildConnector from 'undici/lib/core/connect.js'
import errors from 'undici/lib/core/errors.js'
import Agent from 'undici/lib/dispatcher/agent.js'
// Node's own `fetch` sends through the agent that this file sets, as it does with the whole package.
import 'undici/lib/global.js'

/**
 * The parts of undici that the service uses. Its main file also loads its `fetch`, WebSocket, cookies, caches and mocks, which
 * are not exported separately: 7 % of the CPU time of a start. Checked with undici 7.30.2.
 */
export { Agent, buildConnector, errors }

/** Sends a request, like undici's own `request` with the option `dispatcher`. */
export function request(
  dispatcher: Dispatcher,
  { origin, pathname, search }: URL,
  options: Omit<Dispatcher.RequestOptions, 'origin' | 'path'>,
): Promise<Dispatcher.ResponseData> {
  return apiRequest.call(dispatcher, { ...options, origin, path: `${pathname}${search}` })
}
