import { expect, it } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { startDnsServer } from '../../support/solvers/dns-server.js'
import { register, signedRegistration } from '../../support/solvers/solver.js'

const [first, second, unbonded] = solverAccounts

const chain = await shared(startModelChain({ bonded: 2 }))
const dns = await shared(startDnsServer({}))
const service = await shared(
  startService(
    chain,
    { NODE_ENV: 'production', SOLVER_ENDPOINT_ALLOWLIST: '127.0.0.1', MAX_SOLVERS_PER_CHAIN: '1' },
    { nameServers: [dns.address] },
  ),
)

/** Registers an endpoint at a name. @returns the code of the refusal */
async function refusalOf(account: typeof first): Promise<string> {
  const body = await signedRegistration(account, { endpointUrl: 'https://stranger.test' })
  return (await service.post(`/v1/${chain.chainId}/solvers/register`, body)).body.code
}

it('the name of an endpoint is not looked up without a bond, nor without a place', async () => {
  expect(await refusalOf(unbonded)).toBe('BOND_INSUFFICIENT')
  await register(service, chain.chainId, first, { endpointUrl: 'http://127.0.0.1:9' })
  expect(await refusalOf(second)).toBe('SOLVER_LIMIT_REACHED')
  expect(dns.asked).toEqual([])
})
