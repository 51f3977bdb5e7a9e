import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'

/** Has a server listen on a free port of 127.0.0.1. @returns the port, and its URL of HTTP */
export async function listen(server: Server): Promise<{ port: number; url: string }> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, url: `http://127.0.0.1:${port}` }
}
