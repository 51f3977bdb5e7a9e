import { toFunctionSelector } from 'viem'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { bondSolver, deploySettlement } from '../../../packages/cli/src/devnet/deploy.js'
import { BOND, bytecodeNamed, deployer, solverAccounts, startChain } from '../../support/chain/chain.js'
import { QUOTE_MEMBERS } from '../../support/chain/signed-quote.js'
import { startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type Behaviour, contractStruct, register, startSolver } from '../../support/solvers/solver.js'

const [account] = solverAccounts

let rpc: Awaited<ReturnType<typeof startRpcProxy>>

const chain = await shared(startChain({ bonded: 0 }))
/** A contract of a protocol whose quotes are `AcmeQuote`. */
const acme = await deploySettlement({ ...chain.devnet, deployer, bytecode: bytecodeNamed('Acme') })
await bondSolver({ ...chain.devnet, settlement: acme.settlement, solver: account }, BOND)
const solver = await shared(startSolver(chain, account))

beforeEach(async () => {
  rpc = await startRpcProxy(chain.devnet.rpcUrl)
})

afterEach(() => rpc.close())

/** Signs with a primary type and a domain name that the test chooses. */
function signedAs(primaryType: string, domainName: string): Behaviour {
  return async (ask, { quoteFor }) => {
    const quote = quoteFor(ask)
    const signature = await account.signTypedData({
      domain: { ...chain.domain, name: domainName, verifyingContract: acme.settlement },
      types: { [primaryType]: QUOTE_MEMBERS },
      primaryType,
      message: contractStruct(quote),
    })
    return { quote, signature }
  }
}

async function startAcmeWithSolver(): Promise<TestService> {
  const variables = { PROTOCOL_NAME: 'Acme', [`RPC_URL_${chain.chainId}`]: rpc.url }
  const service = await startService({ ...chain, contracts: acme }, variables)
  await register(service, chain.chainId, account, { endpointUrl: solver.endpointUrl, protocolName: 'Acme' })
  return service
}

async function statusOf(service: TestService, behaviour: Behaviour): Promise<number> {
  solver.behave(behaviour)
  return (await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))).status
}

it("the protocol's name gives the primary type, and the contract answers the domain's name", async () => {
  const service = await startAcmeWithSolver()
  expect(await statusOf(service, signedAs('AcmeQuote', 'Settlement'))).toBe(200)
  expect(await statusOf(service, signedAs('ServiceQuote', 'Settlement'))).toBe(503)
  expect(await statusOf(service, signedAs('AcmeQuote', 'Acme'))).toBe(503)
  await service.close()
})

it("the protocol's name is also the domain's when the contract does not answer eip712Domain()", async () => {
  rpc.revert(toFunctionSelector('eip712Domain()'))
  const service = await startAcmeWithSolver()
  expect(await statusOf(service, signedAs('AcmeQuote', 'Acme'))).toBe(200)
  expect(await statusOf(service, signedAs('AcmeQuote', 'Settlement'))).toBe(503)
  await service.close()
})
