import { expect, it } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { startSolver } from '../../support/solvers/solver.js'
import { eventSource, type StreamTransport, transports } from '../../support/streams/transports.js'
import { startKeyedService } from './keyed-service.js'

const chain = await shared(startModelChain({ bonded: 1 }))
const service = await shared(startKeyedService(chain))
const solver = await shared(startSolver(chain, solverAccounts[0]))
await solver.register(service)

it('keys revoke ends the streams of events of the key on all transports, and no others', async () => {
  const { id, key } = await service.addKey('one')
  const other = await service.addKey('other')
  const open = (transport: StreamTransport, text: string) =>
    transport.open(service.url, {}, { headers: { 'x-api-key': text } })
  const streams = transports.map((transport) => ({ transport, client: open(transport, key) }))
  const others = [
    ...transports.map((transport) => open(transport, other.key)),
    ...transports.map((transport) => transport.open(service.url)),
  ]
  await Promise.all([...streams.map(({ client }) => client), ...others].map((client) => client.connected()))

  await service.keys('revoke', id)
  for (const { transport, client } of streams) {
    expect(await client.ended()).toMatchObject(endOf(transport))
    expect(await open(transport, key).ended()).toMatchObject({ reason: 'API_KEY_INVALID' })
  }
  for (const client of others) {
    expect(await Promise.race([client.ended(), Promise.resolve('open')])).toBe('open')
    client.leave()
  }
})

it('keys revoke ends a stream of quotes over server-sent events with an error', async () => {
  const { id, key } = await service.addKey('a quote stream')
  const response = await fetch(`${service.url}/v1/${chain.chainId}/quote/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({ ...quoteRequest(chain), refreshSeconds: 60 }),
  })
  expect(response.status).toBe(200)
  let text = ''
  let isRevoked = false
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString()
    if (isRevoked || !text.includes('event: done')) continue
    isRevoked = true
    await service.keys('revoke', id)
  }
  expect(text).toMatch(/event: error\ndata: .*"code":"API_KEY_INVALID"/)
})
/** How a stream ends that is open already. Server-sent events have no room for an error: the next connection gets it. */
function endOf({ protocol }: StreamTransport) {
  if (protocol === 'websocket') return { status: 1008, text: expect.stringContaining('revoked') }
  if (protocol === eventSource.protocol) return { status: 200 }
  return { status: 'UNAUTHENTICATED', reason: 'API_KEY_INVALID' }
}
