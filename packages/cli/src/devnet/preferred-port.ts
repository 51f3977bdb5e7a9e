import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/**
 * Takes a port of 127.0.0.1 for a moment.
 * @param port 0 takes any free one
 * @returns the port
 * @throws Node's error when it is taken, or not allowed
 */
export async function tryPort(port: number): Promise<number> {
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: taken } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return taken
}

/** A port for a server that comes next: the preferred one, or 0 for any free one when that is taken. */
export function freeOrAny(preferred: number): Promise<number> {
  return tryPort(preferred).then(
    () => preferred,
    () => 0,
  )
}
