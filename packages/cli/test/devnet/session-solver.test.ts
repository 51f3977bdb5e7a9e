import { expect, it } from 'vitest'
import { startServiceInProcess } from '../../../../src/operator/demo/service-in-process.js'
import { shared } from '../../../../test/support/shared.js'
import { createDevnetClient, devAccounts } from '../../src/devnet/deploy.js'
import { startNetwork, tradedTokens } from '../../src/devnet/network.js'
import { startReferenceSolver } from '../../src/devnet/reference-solver.js'
import { playSale } from '../../src/devnet/scenario.js'
import { deposit, getQuote, waitForState } from '../../src/devnet/user-steps.js'

const onError = () => {}

const network = await shared(
  startNetwork({
    environment: { LOG_LEVEL: 'silent' },
    onError,
    startService: startServiceInProcess,
  }),
)

it('a solver that leaves one order unfilled fills those that others deposit meanwhile', async () => {
  const [aldous] = network.solvers
  const silent = () => {}
  const terms = { orderType: 'EXACT_INPUT', amount: 10n ** 18n, depositMode: 'CONTRACT' } as const
  const left = await getQuote(network, silent, terms)
  if (aldous !== undefined) aldous.mayFill = (orderId) => orderId !== left.orderId
  await deposit(createDevnetClient(network.devnet, network.user), network, left)
  const lines: string[] = []
  await playSale(network, (line) => void lines.push(line))
  expect(lines).toContain('   Aldous   2498.75 USDC for 1 WETH  <- best')
  await waitForState(network, left.orderId, 'DEPOSITED', silent)
})

it('a solver whose first session is refused does not start', async () => {
  const { devnet, contracts } = network
  const starting = startReferenceSolver({
    ...devnet,
    account: devAccounts[7],
    name: 'Without a bond',
    spreadBps: { EXACT_INPUT: 1, EXACT_OUTPUT: 1 },
    settlement: contracts.settlement,
    tokens: tradedTokens(contracts),
    protocolName: 'Service',
    aggregatorUrl: network.serviceUrl,
    transport: 'session',
    onError,
  })
  await expect(starting).rejects.toThrow(/^Without a bond could not connect: BOND_INSUFFICIENT/)
})
