import { toFunctionSelector } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { QUOTE_MEMBERS } from '../devnet/signed-quote.js'
import { solverAccounts, startChain, type TestChain } from './chain.js'
import { quoteRequest } from './quote-request.js'
import { startRpcProxy } from './rpc-proxy.js'
import { startService, type TestService } from './service.js'
import { type Behaviour, contractStruct, register, startSolver, type TestSolver } from './test-solver.js'

const [account] = solverAccounts

let chain: TestChain
let solver: TestSolver
let rpc: Awaited<ReturnType<typeof startRpcProxy>>

beforeAll(async () => {
  chain = await startChain({ bonded: 1 })
  solver = await startSolver(chain, account)
})
afterAll(async () => {
  await solver?.close()
  await chain?.stop()
})
beforeEach(async () => {
  rpc = await startRpcProxy(chain.devnet.rpcUrl)
})
afterEach(() => rpc.close())

/** Signs with a primary type and a domain name of the test's choice. */
function signedAs(primaryType: string, domainName: string): Behaviour {
  return async (ask, { quoteFor }) => {
    const quote = quoteFor(ask)
    const signature = await account.signTypedData({
      domain: { ...chain.domain, name: domainName },
      types: { [primaryType]: QUOTE_MEMBERS },
      primaryType,
      message: contractStruct(quote),
    })
    return { quote, signature }
  }
}

async function startAcme(): Promise<TestService> {
  const service = await startService(chain, { PROTOCOL_NAME: 'Acme', [`RPC_URL_${chain.chainId}`]: rpc.url })
  await register(service, chain.chainId, account, { endpointUrl: solver.endpointUrl, protocolName: 'Acme' })
  return service
}

async function statusOf(service: TestService, behaviour: Behaviour): Promise<number> {
  solver.behave(behaviour)
  return (await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))).status
}

it("the protocol's name gives the primary type; the domain's name is what the contract answers", async () => {
  const service = await startAcme()
  expect(await statusOf(service, signedAs('AcmeQuote', 'Settlement'))).toBe(200)
  expect(await statusOf(service, signedAs('ServiceQuote', 'Settlement'))).toBe(503)
  expect(await statusOf(service, signedAs('AcmeQuote', 'Acme'))).toBe(503)
  await service.close()
})

it("the protocol's name is the domain's as well when the contract does not answer eip712Domain()", async () => {
  rpc.revert(toFunctionSelector('eip712Domain()'))
  const service = await startAcme()
  expect(await statusOf(service, signedAs('AcmeQuote', 'Acme'))).toBe(200)
  expect(await statusOf(service, signedAs('AcmeQuote', 'Settlement'))).toBe(503)
  await service.close()
})
