/**
 * The limit for reads: Fastify with a route for each path of its arguments, which returns the same bytes each
 * time.
 */
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'

/** A response with its headers, except those that Node writes itself. */
export interface PlainAnswer {
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

const answers: Record<string, PlainAnswer> = JSON.parse(process.argv[2] ?? '')
const server = Fastify()
for (const [path, { headers, text }] of Object.entries(answers)) {
  server.get(path, async (_request, reply) => {
    reply.headers(headers)
    return text
  })
}
server.get('/cpu', async () => {
  const { user, system } = process.cpuUsage()
  return String((user + system) / 1e6)
})
await server.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`listening ${(server.server.address() as AddressInfo).port}\n`)
// The parent process has ended.
process.stdin.resume().on('end', () => process.exit())
