import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { listen } from '../../support/listen.js'
import { commandLine } from '../../support/process/command-line.js'
import { shared } from '../../support/shared.js'
import { type Market, startMarket } from '../../support/solver-kit/market.js'
import {
  certifyArguments,
  certifyEndpoint,
  PATIENT,
  startSessionRun,
  troubles,
} from '../../support/solvers/certify.js'

const [account] = solverAccounts

const market = await shared(startMarket())

/** A solver of the kit with an endpoint. */
async function startEndpoint() {
  let handler: ReturnType<Market['solver']>['handler'] | undefined
  const server = createServer((request, response) => handler?.(request, response))
  const { url: endpointUrl } = await listen(server)
  onTestFinished(() => void server.close())
  const solver = market.solver({ endpointUrl })
  handler = solver.handler
  await solver.start()
  return endpointUrl
}

it('a solver of the kit passes at its endpoint', async () => {
  const endpointUrl = await startEndpoint()
  const more = PATIENT
  const { code, report, stderr } = await certifyEndpoint(market.chain, endpointUrl, account.address, { more })
  expect([code, stderr]).toEqual([0, ''])
  expect(report).toMatchObject({ ok: true, failed: 0, notRun: [], transport: 'endpoint' })
  expect(report.cases.length).toBeGreaterThanOrEqual(20)
  expect(troubles(report)).toEqual([expect.stringContaining('warn endpoint-url')])
})

it('the report for a person has a line for each case, and a summary', async () => {
  const endpointUrl = await startEndpoint()
  const more = ['--endpoint', endpointUrl, ...PATIENT]
  const { code, stdout } = await commandLine(
    certifyArguments(market.chain, { solver: account.address, more }),
  )
  expect(code).toBe(0)
  expect(stdout).toMatch(/^solver +0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC$/m)
  expect(stdout).toMatch(
    /^pass {2}exact-input +\d+ ms {2}EXACT_INPUT, deposit at the contract: A valid offer: 2500000000 for/m,
  )
  expect(stdout).toMatch(/^warn {2}endpoint-url +\d+ ms /m)
  expect(stdout).toMatch(/^\d+ passed, \d with a warning, 0 failed\.$/m)
})

it('a solver of the kit passes on its session', async () => {
  const run = await startSessionRun(market.chain, { more: PATIENT })
  const solver = market.solver({ aggregatorUrl: run.url })
  await solver.start()
  const { code, report } = await run.ended
  expect(code).toBe(0)
  expect(troubles(report)).toEqual([])
})
