import { expect, test } from 'vitest'
import { NO_ENDPOINT } from '../../../packages/protocol/src/solvers/solver.js'
import { readConfig } from '../../../src/config/config.js'
import { checkSolvers } from '../../../src/operator/doctor/check-solvers.js'
import { solver } from '../../store/solvers/solver-samples.js'

const config = readConfig({
  SUPPORTED_CHAINS: '1',
  RPC_URL_1: 'http://127.0.0.1:8545',
  SERVICE_ADDRESS_1: solver(9).address,
})

test('doctor shows solvers without an endpoint, and does not count them as failed', async () => {
  const solvers = [
    solver(1, { endpointUrl: NO_ENDPOINT, session: { id: 'a' } }),
    solver(2, { endpointUrl: NO_ENDPOINT }),
  ]
  const checkResults = await checkSolvers(solvers, config)
  expect(checkResults.map(({ status, checkResult }) => [status, checkResult])).toEqual([
    ['ok', 'has no endpoint and is connected: not checked'],
    ['ok', 'has no endpoint and is not connected: not checked'],
  ])
})
