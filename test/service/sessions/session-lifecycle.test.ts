import { expect, it } from 'vitest'
import { BOND, solverAccounts } from '../../support/chain/chain.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import { commandLine } from '../../support/process/command-line.js'
import { grpc, webSocket } from '../../support/sessions/session-connections.js'
import { offering, type SessionBehaviour } from '../../support/sessions/session-solver.js'
import { startSessionStage } from '../../support/sessions/session-stage.js'
import { signedUnregistration } from '../../support/solvers/solver.js'

const [account] = solverAccounts

const stage = await startSessionStage()
const { chain, ask: askQuote, listed } = stage

const start = (environment: Record<string, string> = {}, sessionHeartbeatMs = 20_000) =>
  stage.start({ MIN_SOLVER_BOND: BOND.toString(), ...environment }, { sessionHeartbeatMs })
const open = (options: Parameters<typeof stage.open>[1] = {}) => stage.open(account, options)
const untilListed = (count: number) => eventually(listed, (list) => list.length === count)

/** Holds its first answer until it is told to go on. */
function holding(output: string) {
  const gate = deferred()
  const behaviour: SessionBehaviour = async (...ask) => {
    await gate.opened
    return offering(output)(...ask)
  }
  return { behaviour, release: gate.open }
}

it('a solver that answers no pings is cut off', async () => {
  await start({}, 100)
  const frozen = await open({ answersPings: false })
  expect(await frozen.ended).toMatchObject({ code: 1013, reason: 'SESSION_STALLED' })
  await untilListed(0)
})

it('a second session replaces the first, which may answer what it was asked', async () => {
  await start()
  const { behaviour, release } = holding('100')
  const first = await open({ behaviour })
  const early = askQuote()
  await first.next('quoteRequest')
  const second = await open({ behaviour: offering('200') })
  expect((await askQuote()).body.quote).toMatchObject({ outputAmount: '200' })
  expect(first.count('quoteRequest')).toBe(1)
  release()
  expect((await early).body.quote).toMatchObject({ outputAmount: '100' })
  expect(await first.next('result')).toMatchObject({ outcome: 'QUOTED' })
  expect(await first.ended).toEqual({ code: 1008, text: 'replaced', reason: 'SESSION_REPLACED' })
  expect((await askQuote()).body.quote).toMatchObject({ outputAmount: '200' })
  expect(second.count('goAway')).toBe(0)
  await untilListed(1)
})

it('unregistering ends the session', async () => {
  const service = await start()
  const session = await open()
  const path = `/v1/${chain.chainId}/solvers/${account.address}`
  expect((await service.delete(path, await signedUnregistration(account))).status).toBe(200)
  expect(await session.ended).toMatchObject({ reason: 'SOLVER_NOT_FOUND' })
  await untilListed(0)
})

it("the operator's block ends the session, and no other opens", async () => {
  const environment = { DB_PATH: temporaryFile(), BOND_CHECK_INTERVAL_MS: '50' }
  await start(environment)
  const session = await open()
  const blocked = await commandLine(['solvers', 'block', account.address], { environment })
  expect(blocked.code).toBe(0)
  expect(await session.ended).toMatchObject({ reason: 'SOLVER_BLOCKED' })
  await expect(open()).rejects.toThrow('SOLVER_BLOCKED')
})

it.each([
  [webSocket, 1001],
  [grpc, 14],
])(
  'on $name, a shutdown announces itself, waits for the open answers, and then ends the session',
  async (transport, code) => {
    const service = await start({}, 100)
    const { behaviour, release } = holding('100')
    const session = await open({ transport, behaviour })
    // It answers them, and stays.
    await session.next('ping', 5)
    const quote = askQuote()
    await session.next('quoteRequest')
    const closed = service.close()
    expect((await session.next('goAway')).reconnectWithinMs).toBe(1000)
    release()
    expect((await quote).body.quote).toMatchObject({ outputAmount: '100' })
    expect(await session.next('result')).toMatchObject({ outcome: 'QUOTED' })
    expect(await session.ended).toMatchObject({ code, reason: 'SHUTTING_DOWN' })
    await closed
  },
)
