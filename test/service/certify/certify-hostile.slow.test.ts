import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { messageOf, webSocket } from '../../support/sessions/session-connections.js'
import { openSession, signedHello, silent } from '../../support/sessions/session-solver.js'
import { shared } from '../../support/shared.js'
import { certifyEndpoint, startSessionRun } from '../../support/solvers/certify.js'
import { CHUNKED, chunk, type Exchange, malformedSolver } from '../../support/solvers/malformed-solvers.js'
import { signedBy, startRawSolver } from '../../support/solvers/raw-solver.js'

const [account, otherAccount] = solverAccounts
const MIB = 1024 * 1024

const chain = await shared(startModelChain({ bonded: 1 }))

async function sendForEver({ socket, offer }: Exchange): Promise<void> {
  await offer()
  socket.write(CHUNKED)
  while (!socket.destroyed) {
    socket.write(chunk(' '.repeat(8192)))
    await delay(1)
  }
}

describe('certify bounds', () => {
  it('the bytes that it reads of an endless reply', async () => {
    const raw = await startRawSolver(
      malformedSolver('an endless reply', 'failed', sendForEver),
      signedBy(chain, account),
    )
    onTestFinished(() => raw.close())
    const { code, report } = await certifyEndpoint(chain, raw.endpointUrl, account.address)
    expect([code, report.cases.at(-1)?.problems]).toEqual([5, ['reply_too_long']])
    expect(raw.sent()).toBeLessThan(MIB)
  })

  it('a flood of messages on a session', async () => {
    const run = await startSessionRun(chain)
    const session = await openSession(run.url, chain, account, { behaviour: silent })
    for (let sent = 0; sent < 10_000; sent++) session.send({ type: 'decline', id: String(sent) })
    const { code, report } = await run.ended
    expect(code).toBe(5)
    expect(JSON.stringify(report.cases)).toContain('RATE_LIMITED: A message answers no open quote request')
    expect((await session.ended).reason).toBe('RATE_LIMITED')
  })

  it('the time for which it waits for a session', async () => {
    const run = await startSessionRun(chain, { more: ['--wait', '1'] })
    const { code, report } = await run.ended
    expect([code, report.cases[0]?.text]).toEqual([
      5,
      expect.stringMatching(/^No solver connected within 1 s/),
    ])
    expect(report.solver).toBeUndefined()
  })
})

describe('a session that is refused has its reason in the report:', () => {
  it.each([
    ['a signature of another key', { signer: otherAccount }, 'SIGNATURE_INVALID', 'Service Solver Session'],
    ['another audience', { audience: 'https://other.example' }, 'AUDIENCE_REJECTED', 'must be an origin'],
    ['another chain', { chainIds: [5] }, 'CHAIN_NOT_SUPPORTED', 'Supported: 31337'],
  ])('%s', async (_, change, reason, text) => {
    const { signer = account, ...terms } = change as { signer?: typeof account }
    const run = await startSessionRun(chain)
    const connection = webSocket.connect(run.url)
    const { nonce } = await messageOf(connection, 'challenge')
    const options = { audience: run.url, chainIds: [chain.chainId], ...terms }
    connection.send({ ...(await signedHello(signer, options, nonce)), address: account.address })
    const { code, report } = await run.ended
    expect(code).toBe(5)
    expect(report.cases).toMatchObject([{ name: 'session-open', status: 'fail' }])
    expect(report.cases[0]?.text).toContain(reason)
    expect(report.cases[0]?.text).toContain(text)
  })

  it('another solver than the expected one', async () => {
    const run = await startSessionRun(chain, { solver: otherAccount.address })
    const opening = openSession(run.url, chain, account).catch((error: Error) => error.message)
    const { report } = await run.ended
    expect(report.cases[0]?.text).toContain(
      `certifies ${otherAccount.address}, and ${account.address} has connected`,
    )
    expect(await opening).toContain('SOLVER_BLOCKED')
  })
})

describe('Ctrl-C ends certify with a partial report and 130', () => {
  it('while it waits for a session', async () => {
    const run = await startSessionRun(chain)
    run.interrupt()
    const { code, report } = await run.ended
    expect([code, report.cases]).toEqual([130, []])
    expect(report.notRun).toContain('session-open')
  })
})
