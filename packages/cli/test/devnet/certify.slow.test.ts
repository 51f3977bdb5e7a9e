import { bytesToHex, parseUnits } from 'viem'
import { expect, it } from 'vitest'
import { testTokenAbi } from '../../../../gen/contracts/test-token.js'
import { startServiceInProcess } from '../../../../src/operator/demo/service-in-process.js'
import { commandLine } from '../../../../test/support/process/command-line.js'
import { startProcess } from '../../../../test/support/process/process.js'
import { shared } from '../../../../test/support/shared.js'
import {
  certifyArguments,
  certifyEndpoint,
  PATIENT,
  startSessionRun,
  troubles,
} from '../../../../test/support/solvers/certify.js'
import { bondSolver, createDevnetClient, devAccounts, mined } from '../../src/devnet/deploy.js'
import { startNetwork } from '../../src/devnet/network.js'
import { bundleExample } from './example-swaps.js'

const [deployer] = devAccounts
const account = devAccounts[6]
const unforeseen: unknown[] = []
const onError = (error: unknown) => void unforeseen.push(error)

const network = await shared(
  startNetwork({
    environment: { LOG_LEVEL: 'silent' },
    onError,
    startService: startServiceInProcess,
  }),
)
const { devnet, contracts } = network
const { settlement, usdc, weth } = contracts
await bondSolver({ ...devnet, settlement, solver: account }, parseUnits('50000', 6))
const client = createDevnetClient(devnet, deployer)
for (const [address, amount] of [
  [usdc, parseUnits('1000000', 6)],
  [weth, parseUnits('1000', 18)],
] as const) {
  const args = [account.address, amount] as const
  await mined(client, await client.writeContract({ address, abi: testTokenAbi, functionName: 'mint', args }))
}

const [reference] = network.solvers
const endpointUrl = reference?.endpointUrl ?? ''
const solver = reference?.account.address ?? '0x'

it('the reference solver, which is made with the kit, passes at its endpoint', async () => {
  const { code, report, stderr } = await certifyEndpoint(network, endpointUrl, solver, { more: PATIENT })
  expect([code, stderr, troubles(report)]).toEqual([0, '', [expect.stringContaining('warn endpoint-url')]])
  expect(report).toMatchObject({ ok: true, failed: 0, notRun: [], transport: 'endpoint' })
  expect(report.cases.length).toBeGreaterThanOrEqual(20)
  expect(report.cases.at(-1)).toMatchObject({
    name: 'miss-cost',
    text: 'a miss of 1 USDC costs 0.05 bUSD.',
  })
})

it('the report for a person has a line for each case, and a summary', async () => {
  const more = ['--endpoint', endpointUrl, ...PATIENT]
  const { code, stdout } = await commandLine(certifyArguments(network, { solver, more }))
  expect(code).toBe(0)
  expect(stdout).toMatch(new RegExp(`^solver +${solver}$`, 'm'))
  expect(stdout).toMatch(
    /^pass {2}exact-input +\d+ ms {2}EXACT_INPUT, deposit at the contract: A valid offer: \d+ for/m,
  )
  expect(stdout).toMatch(/^warn {2}endpoint-url +\d+ ms /m)
  expect(stdout).toMatch(/^\d+ passed, \d with a warning, 0 failed\.$/m)
})

it('the example of a solver in TypeScript, which is made with the kit too, passes on its session', async () => {
  const run = await startSessionRun(network, { solver: account.address, more: PATIENT })
  const example = startProcess(process.execPath, [await bundleExample()], {
    AGGREGATOR_URL: run.url,
    RPC_URL: network.devnet.rpcUrl,
    PRIVATE_KEY: bytesToHex(account.getHdKey().privateKey ?? new Uint8Array()),
    STATE_FILE: ':memory:',
  })
  const { code, report } = await run.ended
  example.signal('SIGKILL')
  expect([code, report.notRun, troubles(report)], example.output()).toEqual([0, [], []])
})
