import { afterEach, describe, expect, it } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startReadyService } from '../../support/service/ready-service.js'
import type { TestService } from '../../support/service/service.js'
import { transports, webSocket } from '../../support/sessions/session-connections.js'
import { openSession, type SessionSolver } from '../../support/sessions/session-solver.js'
import { shared } from '../../support/shared.js'

const [account, other] = solverAccounts
const HEARTBEAT_MS = 100

let service: TestService
let sessions: SessionSolver[] = []

const chain = await shared(startModelChain({ bonded: 2 }))

afterEach(async () => {
  for (const session of sessions) session.leave()
  sessions = []
  await service?.close()
})

async function open(solver: typeof account, options: Parameters<typeof openSession>[3] = {}) {
  const session = await openSession(service.url, chain, solver, options)
  sessions.push(session)
  return session
}
const listed = async () => (await service.get(`/v1/${chain.chainId}/solvers`)).body.length

describe.each(transports)('on $name', (transport) => {
  const code = (ofWebSocket: number, ofGrpc: number) => (transport === webSocket ? ofWebSocket : ofGrpc)

  it.each([
    ['a quote that nobody asked for', { type: 'quote', id: 'a', quote: {}, signature: '0x' }],
    ['a decline that nobody asked for', { type: 'decline', id: 'a' }],
    ['a pong without a ping', { type: 'pong', id: 'a' }],
    ['a second hello', { type: 'hello', address: '0x' }],
  ])('%s ends the session', async (what, message) => {
    service = await startReadyService([chain])
    const session = await open(account, { transport })
    session.send(message)
    const reason = what === 'a second hello' ? 'INVALID_ARGUMENT' : 'RATE_LIMITED'
    expect(await session.ended).toMatchObject({ reason })
    await eventually(listed, (count) => count === 0)
  })

  it('a solver that answers pings stays, and one that answers none is cut off', async () => {
    service = await startReadyService([chain], {}, { sessionHeartbeatMs: HEARTBEAT_MS })
    const [healthy, frozen] = await Promise.all([
      open(account, { transport }),
      open(other, { transport, answersPings: false }),
    ])
    expect(healthy.ready.heartbeatMs).toBe(HEARTBEAT_MS)
    expect(await frozen.ended).toMatchObject({ code: code(1013, 8), reason: 'SESSION_STALLED' })
    expect(frozen.count('ping')).toBe(2)
    await healthy.next('ping', 5)
    expect(await listed()).toBe(1)
  })
})
