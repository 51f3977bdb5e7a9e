import { createAggregatorClient } from '@quote-aggregator/client'
import { expect, it } from 'vitest'
import { startServiceInProcess } from '../../../../src/operator/demo/service-in-process.js'
import { freePort } from '../../../../test/support/free-port.js'
import { shared } from '../../../../test/support/shared.js'
import { startNetwork } from '../../src/devnet/network.js'
import { playRound } from '../../src/devnet/traffic.js'

const ROUNDS = 8

const network = await shared(
  startNetwork({
    environment: { LOG_LEVEL: 'silent' },
    // Another file may start at the same time, and both would find the usual ports free.
    servicePort: 0,
    chainPort: 0,
    solverPort: await freePort(),
    onError: () => {},
    startService: startServiceInProcess,
  }),
)

it('the traffic is paid, and each solver wins some of it', async () => {
  for (let round = 1; round <= ROUNDS; round++) await playRound(network, round)
  const client = createAggregatorClient({ baseUrl: network.serviceUrl })
  const { orders } = await client.listOrders(network.devnet.chainId, { state: 'SETTLED' })
  expect(orders).toHaveLength(ROUNDS)
  const solvers = network.solvers.map(({ account }) => account.address)
  expect(new Set(orders.map(({ solver }) => solver))).toEqual(new Set(solvers))
})
