import { once } from 'node:events'
import { createServer } from 'node:net'

const HOST = '127.0.0.1'

/** @returns `preferred` when nothing listens there, else 0, with which a server takes any free port */
export async function preferredPort(preferred: number): Promise<number> {
  const probe = createServer()
  try {
    probe.listen(preferred, HOST)
    await once(probe, 'listening')
    return preferred
  } catch {
    return 0
  } finally {
    probe.close()
  }
}
