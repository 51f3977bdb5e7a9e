import { expect, it, onTestFinished } from 'vitest'
import type { CertifyReport } from '../../../packages/cli/src/certify/report.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { offering, openSession, type SessionBehaviour } from '../../support/sessions/session-solver.js'
import { shared } from '../../support/shared.js'
import { certifyEndpoint, PATIENT, startSessionRun } from '../../support/solvers/certify.js'
import { SAFETY_RULES, withoutSafety } from '../../support/solvers/offer-faults.js'
import { startSolver } from '../../support/solvers/solver.js'

const [account] = solverAccounts
const RULES = Object.keys(SAFETY_RULES) as (keyof typeof SAFETY_RULES)[]

const chain = await shared(startModelChain({ bonded: 1 }))

const statusOf = ({ cases }: CertifyReport, wanted: string) =>
  cases.find(({ name }) => name === wanted)?.status
const failedIn = ({ cases }: CertifyReport) =>
  cases.filter(({ name, status }) => status === 'fail' && RULES.some((rule) => rule === name))

it.each([undefined, ...RULES])(
  'certify fails an endpoint without the rule that %s checks',
  async (missing) => {
    const solver = await startSolver(chain, account, withoutSafety(missing))
    onTestFinished(() => solver.close())
    const { report } = await certifyEndpoint(chain, solver.endpointUrl, account.address, { more: PATIENT })
    const failed = failedIn(report)
    expect(failed.map(({ name }) => name)).toEqual(missing === undefined ? [] : [missing])
    for (const { text } of failed)
      expect(text).toMatch(/^A valid offer: .* (Decline|Sign) |deposit(_d|D)eadline/)
  },
)

it('certify warns of a solver that needs the fields that other instances do not send', async () => {
  const solver = await startSolver(chain, account, async (ask, signer, exchange) => {
    if (!('depositMode' in ask)) return void exchange.response.writeHead(400).end()
    return withoutSafety(undefined)(ask, signer, exchange)
  })
  onTestFinished(() => solver.close())
  const { report } = await certifyEndpoint(chain, solver.endpointUrl, account.address, {
    more: PATIENT,
  })
  expect(statusOf(report, 'without-optional-fields')).toBe('warn')
})

it('certify fails a session that signs everything in each of these cases', async () => {
  const run = await startSessionRun(chain, { more: PATIENT })
  const behaviour: SessionBehaviour = (ask, signer) =>
    offering('2500000000')(ask, signer).catch(() => ({ type: 'decline', id: ask.id, code: 'OTHER' }))
  openSession(run.url, chain, account, { behaviour }).catch(() => {})
  const { report } = await run.ended
  expect(failedIn(report).map(({ name }) => name)).toEqual(RULES)
  expect(statusOf(report, 'without-optional-fields')).toBe('pass')
})
