import { getAbiItem, toFunctionSelector } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { BOND, solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { eventually } from '../../support/eventually.js'
import { startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startService, type TestService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import {
  contractStruct,
  honest,
  register,
  startSolver,
  type TestSolver,
} from '../../support/solvers/solver.js'

const [account] = solverAccounts
/** 5 % of it is the whole bond. */
const LARGEST = BOND * 20n
const VIEWS = [
  'eip712Domain',
  'DEPOSIT_PROXY_CREATION_CODE_HASH',
  'BOND_RESERVATION_BPS',
  'MIN_ORDER',
  'computeDepositAddress',
] as const

let chain: TestChain
let solver: TestSolver

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
  solver = await startSolver(chain, account)
})
afterAll(async () => {
  await solver?.close()
  await chain?.stop()
})

/** The reply of the service to a request for which the solver offers this output. */
async function quote(service: TestService, output: bigint) {
  solver.behave(honest({ output: `${output}` }))
  return (await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))).body
}

describe.each([
  ['-32603', { error: { code: -32603, message: 'execution reverted' } }],
  ['no data', { result: '0x' }],
])('a node that answers %s at the first call of each view', (_fault, reply) => {
  it.each(VIEWS)(
    '%s: the rules of bonds, the domain and the deposit addresses are those of the contract',
    async (name) => {
      const selector = toFunctionSelector(getAbiItem({ abi: settlementAbi, name }))
      const rpc = await startRpcProxy(chain.devnet.rpcUrl)
      let failures = 0
      rpc.intercept(async ({ method, params }, pass) => {
        const data = method === 'eth_call' ? (params?.[0] as { data?: string } | undefined)?.data : undefined
        const isAsked = data?.startsWith(selector) === true
        return isAsked && failures++ === 0 ? reply : pass()
      })
      const service = await startService(chain, {
        [`RPC_URL_${chain.chainId}`]: rpc.url,
        [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
      })
      try {
        await eventually(
          async () => (await service.get('/health')).body.chains[0],
          ({ status }) => status === 'ok',
        )
        await register(service, chain.chainId, account, { endpointUrl: solver.endpointUrl })
        const offer = await eventually(
          () => quote(service, LARGEST),
          (body) => body.quote !== undefined,
        )
        const [listed] = (await service.get('/v1/chains')).body.chains
        expect(listed.domain).toMatchObject({ name: 'Settlement', version: '1' })
        const calls = createCalls(chain.devnet, chain.contracts.settlement)
        const address = await calls.client.readContract({
          address: chain.contracts.settlement,
          abi: settlementAbi,
          functionName: 'computeDepositAddress',
          args: [contractStruct(offer.quote), offer.solverSignature],
        })
        expect(offer.depositAddress).toBe(address)
        expect(await quote(service, LARGEST + 20n)).toMatchObject({ code: 'NO_QUOTES' })
        expect(failures).toBeGreaterThan(1)
      } finally {
        await service.close()
        rpc.close()
      }
    },
  )
})
