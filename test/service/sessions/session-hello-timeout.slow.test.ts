import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { countConnections } from '../../support/service/server-connections.js'
import { startService } from '../../support/service/service.js'
import {
  messageOf,
  type SessionConnection,
  transports,
  webSocket,
} from '../../support/sessions/session-connections.js'
import { signedHello } from '../../support/sessions/session-solver.js'

const [account] = solverAccounts

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
})
afterAll(() => chain?.stop())

const nonceOf = async (connection: SessionConnection) => (await messageOf(connection, 'challenge')).nonce
const helloFor = async (audience: string, connection: SessionConnection) =>
  signedHello(account, { audience, chainIds: [chain.chainId] }, await nonceOf(connection))

describe.concurrent('a connection without a hello', () => {
  it.for(transports)(
    'ends after 5 seconds, and its hello is of no use then, on $name',
    async (transport, { onTestFinished }) => {
      const service = await startService(chain)
      onTestFinished(() => service.close())
      const connection = transport.connect(service.url)
      const hello = await helloFor(service.url, connection)
      const refusal = (reason: string) =>
        expect.objectContaining(transport === webSocket ? { code: 1008, reason } : { reason })
      expect(await connection.ended).toEqual(refusal('CHALLENGE_EXPIRED'))
      const next = transport.connect(service.url)
      await nonceOf(next)
      next.send(hello)
      expect(await next.ended).toEqual(refusal('SIGNATURE_INVALID'))
    },
  )

  it('leaves room for others, also when there are many', async ({ onTestFinished }) => {
    const service = await startService(chain, { TRUST_PROXY: '1' })
    onTestFinished(() => service.close())
    const open = countConnections(service.url, onTestFinished)
    const of = (address: string, count: number) =>
      Array.from({ length: count }, () => webSocket.connect(service.url, { forwardedFor: address }))
    const pending = () => service.metric('aggregator_solver_sessions_pending', {})
    const crowd = of('198.51.100.1', 300)
    await eventually(pending, (count) => count > 0)
    expect(await pending()).toBeLessThanOrEqual(4)
    // A whole network: /64s of one /48, which take places from each other when those of strangers are full.
    for (let subnet = 0; subnet < 60; subnet++) crowd.push(...of(`2001:db8:1:${subnet.toString(16)}::1`, 4))
    await eventually(pending, (count) => count > 4)
    expect(await pending()).toBeLessThanOrEqual(192)
    const honest = webSocket.connect(service.url, { forwardedFor: '203.0.113.9' })
    onTestFinished(() => honest.leave())
    honest.send(await helloFor(service.url, honest))
    await messageOf(honest, 'ready')
    const reasons = await Promise.all(crowd.map(async ({ ended }) => (await ended).reason))
    expect(new Set(reasons)).toEqual(new Set(['SESSION_LIMIT_REACHED', 'CHALLENGE_EXPIRED']))
    // The session, and some connections of `fetch`.
    await eventually(
      async () => open(),
      (count) => count < 10,
    )
  })
})
