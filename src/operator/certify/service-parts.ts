import type { CertifyHost } from '../../../packages/cli/src/certify/certify-host.js'
import { openEndpoint } from './endpoint-client.js'
import { startSessions } from './session-host.js'

/** What `certify` runs of the service: its client of endpoints, and its server with sessions. */
export const certifyHost: CertifyHost = { openEndpoint, startSessions }
