import { bytesToHex, parseUnits } from 'viem'
import { expect, it } from 'vitest'
import { testTokenAbi } from '../../../../gen/contracts/test-token.js'
import { startServiceInProcess } from '../../../../src/operator/demo/service-in-process.js'
import { startProcess } from '../../../../test/support/process/process.js'
import { shared } from '../../../../test/support/shared.js'
import {
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

it('the reference solver passes at its endpoint', async () => {
  const [solver] = network.solvers
  const { code, report } = await certifyEndpoint(
    network,
    solver?.endpointUrl ?? '',
    solver?.account.address ?? '0x',
    { more: PATIENT },
  )
  expect([code, report.notRun, troubles(report)]).toEqual([
    0,
    [],
    [expect.stringContaining('warn endpoint-url')],
  ])
  expect(report.cases.at(-1)).toMatchObject({
    name: 'miss-cost',
    text: 'a miss of 1 USDC costs 0.05 bUSD.',
  })
})

it('the example of a solver in TypeScript passes', async () => {
  const run = await startSessionRun(network, { solver: account.address, more: PATIENT })
  const solver = startProcess(process.execPath, [await bundleExample()], {
    AGGREGATOR_URL: run.url,
    RPC_URL: network.devnet.rpcUrl,
    PRIVATE_KEY: bytesToHex(account.getHdKey().privateKey ?? new Uint8Array()),
    STATE_FILE: ':memory:',
  })
  const { code, report } = await run.ended
  solver.signal('SIGKILL')
  expect([code, report.notRun, troubles(report)], solver.output()).toEqual([0, [], []])
})
