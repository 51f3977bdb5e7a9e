import { startCable } from '../../support/faults/cable.js'
import { freePort } from '../../support/free-port.js'

/** The variables of a replica that the others may ask, at a free port. */
export const RELAYING = { REPLICA_URL: 'http://127.0.0.1', REPLICA_PORT: '0' }

/** The variables of a replica that the others ask over a cable. */
export async function cabledReplica() {
  const port = await freePort()
  const cable = await startCable(`http://127.0.0.1:${port}`)
  return { cable, environment: { REPLICA_URL: cable.url, REPLICA_PORT: String(port) } }
}
