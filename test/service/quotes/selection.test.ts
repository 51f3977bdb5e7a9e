import { parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bondSolver } from '../../../packages/cli/src/devnet/deploy.js'
import { BOND, startChain, type TestChain } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { startService, type TestService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { startSolver, type TestSolver } from '../../support/solvers/solver.js'

const REGISTERED = 7
const FAN_OUT = 3

let chain: TestChain
let service: TestService
let solvers: TestSolver[]

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  service = await startService(chain, { MAX_QUOTE_FAN_OUT: String(FAN_OUT) })
  const { client } = createCalls(chain.devnet, chain.contracts.settlement)
  solvers = []
  for (let index = 0; index < REGISTERED; index++) {
    const account = privateKeyToAccount(generatePrivateKey())
    await client.setBalance({ address: account.address, value: parseEther('1') })
    await bondSolver({ ...chain.devnet, settlement: chain.contracts.settlement, solver: account }, BOND)
    const solver = await startSolver(chain, account)
    await solver.register(service, `Solver ${index}`)
    solvers.push(solver)
  }
})

afterAll(async () => {
  await service?.close()
  await Promise.all((solvers ?? []).map((solver) => solver.close()))
  await chain?.stop()
})

it('a quote asks no more solvers than MAX_QUOTE_FAN_OUT, and each solver in its turn', async () => {
  for (let round = 0; round < REGISTERED; round++) {
    const { body } = await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
    expect(1 + body.alternativeQuotes.length).toBe(FAN_OUT)
  }
  for (const { asks } of solvers) expect(asks.length).toBeGreaterThan(0)
})
