import { describe, expect, it, onTestFinished } from 'vitest'
import type { CertifyReport } from '../../../packages/cli/src/certify/report.js'
import type { DropReason } from '../../../packages/protocol/src/quotes/offer.js'
import type {
  HttpFailReason,
  SessionFailReason,
} from '../../../packages/protocol/src/solvers/solver-result.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { openSession } from '../../support/sessions/session-solver.js'
import { shared } from '../../support/shared.js'
import { certifyEndpoint, startSessionRun } from '../../support/solvers/certify.js'
import { type MalformedSolver, malformedSolver, ok, sends } from '../../support/solvers/malformed-solvers.js'
import { offerFaults, signedOver } from '../../support/solvers/offer-faults.js'
import { signedBy, startRawSolver, startTrap } from '../../support/solvers/raw-solver.js'
import { type Behaviour, startSolver } from '../../support/solvers/solver.js'

const [account, badAccount] = solverAccounts

const chain = await shared(startModelChain({ bonded: 3 }))

/** Certifies an endpoint, and expects a failure. */
async function failsAt(endpointUrl: string, more: readonly string[] = []): Promise<CertifyReport> {
  const { code, report } = await certifyEndpoint(chain, endpointUrl, badAccount.address, { more })
  expect(code).toBe(5)
  return report
}

async function failsWith(behaviour: Behaviour): Promise<CertifyReport> {
  const solver = await startSolver(chain, badAccount, behaviour)
  onTestFinished(() => solver.close())
  return failsAt(solver.endpointUrl)
}

async function failsRaw(
  malformed: MalformedSolver,
  scheme = 'http',
  signer = badAccount,
): Promise<CertifyReport> {
  const raw = await startRawSolver(malformed, signedBy(chain, signer, badAccount.address))
  onTestFinished(() => raw.close())
  return failsAt(raw.endpointUrl.replace('http', scheme), ['--timeout', '500'])
}

function problemsOf({ cases }: CertifyReport) {
  return new Set(cases.flatMap(({ problems = [] }) => problems))
}

describe('certify names the reason for which the service drops an offer:', () => {
  /** A new reason does not compile until it is here, and fails until it has a fault. */
  const reasons: Record<DropReason, true> = {
    malformed: true,
    solver_mismatch: true,
    user_mismatch: true,
    input_token_mismatch: true,
    output_token_mismatch: true,
    order_type_mismatch: true,
    output_chain_mismatch: true,
    deposit_deadline_mismatch: true,
    fill_deadline_mismatch: true,
    fixed_amount_mismatch: true,
    amount_out_of_range: true,
    nonce_out_of_range: true,
    signature_length: true,
    signature_v: true,
    signature_high_s: true,
    signature_mismatch: true,
    bond_too_small: true,
    below_minimum_order: true,
    nonce_used: true,
  }
  const faults = [
    ...offerFaults,
    ['the same nonce in all offers', 'nonce_used', signedOver({ nonce: '7' })] as const,
  ]

  it('there is a fault for each reason', () => {
    expect(new Set(faults.map(([, reason]) => reason))).toEqual(new Set(Object.keys(reasons)))
  })

  it.each(faults)('%s', async (_, reason, behaviour) => {
    const report = await failsWith(behaviour)
    expect(problemsOf(report)).toContain(reason)
    const [first] = report.cases.filter(({ status }) => status === 'fail')
    expect(first?.problems).toEqual([reason])
    expect(first?.text).toMatch(/must|contract|check|nonce/)
  })
})

describe('certify names the reason for which a request to an endpoint fails:', () => {
  // The other reasons come from the same request as those of a quote.
  const faults: { readonly [reason in HttpFailReason]?: () => Promise<CertifyReport> } = {
    async connection_refused() {
      const trap = await startTrap()
      await trap.close()
      return failsAt(`http://127.0.0.1:${trap.port}`)
    },
    // No TLS handshake: the request is never sent.
    unreachable: () =>
      failsRaw(
        malformedSolver('says nothing', 'failed', ({ socket }) => socket.pause()),
        'https',
      ),
  }

  it.each(Object.entries(faults))('%s', async (reason, certify) => {
    const report = await certify()
    const [first] = report.cases.filter(({ status }) => status === 'fail')
    expect(first?.problems).toEqual([reason])
    expect(report.notRun.length).toBeGreaterThan(10)
  })
})

describe('certify names the reason for which a request on a session fails:', () => {
  /** A run has too few open requests to fill a session. */
  const faults: Record<Exclude<SessionFailReason, 'session_congested'>, () => Promise<CertifyReport>> = {
    async session_ended() {
      const run = await startSessionRun(chain)
      const opening: ReturnType<typeof openSession> = openSession(run.url, chain, account, {
        async behaviour() {
          const session = await opening
          session.leave()
          return undefined
        },
      })
      await opening
      return (await run.ended).report
    },
  }

  it.each(Object.entries(faults))('%s', async (reason, certify) => {
    expect(problemsOf(await certify())).toContain(reason)
  })
})

describe('certify names', () => {
  it.each([
    ['error_status', '500 Oops'],
    ['redirect', '307 Temporary'],
  ])('%s for the status %s', async (problem, status) => {
    const report = await failsRaw(sends('a status', 'declined', () => ok('{}', { status })))
    expect(problemsOf(report)).toEqual(new Set([problem]))
  })

  it('what a wrong signature should be over, and who has signed', async () => {
    const report = await failsRaw(
      sends('a reply', 'quoted', (json) => ok(json)),
      'http',
      account,
    )
    const { signature } = report.cases.at(-1) ?? {}
    expect(signature).toMatchObject({
      expectedSigner: badAccount.address,
      recoveredSigner: account.address,
      primaryType: 'ServiceQuote',
      domain: { name: 'Settlement', version: '1', chainId: chain.chainId },
      message: { inputAmount: '1000000000000000000', orderType: '0' },
    })
    expect(signature?.digest).toMatch(/^0x[0-9a-f]{64}$/)
    expect(signature?.likelyMistake).toBeUndefined()
  })
})
