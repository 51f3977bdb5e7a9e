import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/**
 * Starts a server at its usual port, or at any free one when that is taken.
 * @param start listens at the given port; 0 takes any free one
 * @throws any other error of `start`
 */
export async function atPreferredPort<T>(preferred: number, start: (port: number) => Promise<T>): Promise<T> {
  try {
    return await start(preferred)
  } catch (error) {
    if (!isPortTaken(error)) throw error
    return start(0)
  }
}

/** Whether the port is taken, by the code of Node's error or of its cause, or by the output of anvil or of the service. */
function isPortTaken(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as NodeJS.ErrnoException
  return (
    code === 'EADDRINUSE' ||
    /address already in use|PORT.*is \d+, which is in use/i.test(error.message) ||
    isPortTaken(error.cause)
  )
}

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
