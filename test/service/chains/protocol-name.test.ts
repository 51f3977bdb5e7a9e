import { expect, it, onTestFinished } from 'vitest'
import { bondSolver, deploySettlement } from '../../../packages/cli/src/devnet/deploy.js'
import { BOND, bytecodeNamed, deployer, solverAccounts, startChain } from '../../support/chain/chain.js'
import { QUOTE_MEMBERS } from '../../support/chain/signed-quote.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type Behaviour, contractStruct, register, startSolver } from '../../support/solvers/solver.js'

const [account] = solverAccounts

const chain = await shared(startChain({ bonded: 0 }))
/** A contract of a protocol whose quotes are `AcmeQuote`. */
const acme = await deploySettlement({ ...chain.devnet, deployer, bytecode: bytecodeNamed('Acme') })
await bondSolver({ ...chain.devnet, settlement: acme.settlement, solver: account }, BOND)
const solver = await shared(startSolver(chain, account))

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

async function statusOf(service: TestService, behaviour: Behaviour): Promise<number> {
  solver.behave(behaviour)
  return (await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))).status
}

it("the protocol's name gives the primary type, and the contract answers the domain's name", async () => {
  const service = await startService({ ...chain, contracts: acme }, { PROTOCOL_NAME: 'Acme' })
  onTestFinished(() => service.close())
  await register(service, chain.chainId, account, { endpointUrl: solver.endpointUrl, protocolName: 'Acme' })
  expect(await statusOf(service, signedAs('AcmeQuote', 'Settlement'))).toBe(200)
  expect(await statusOf(service, signedAs('ServiceQuote', 'Settlement'))).toBe(503)
  expect(await statusOf(service, signedAs('AcmeQuote', 'Acme'))).toBe(503)
})
