import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { itSlow } from '../../support/rounds.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { type DnsServer, startDnsServer, type Zone } from '../../support/solvers/dns-server.js'
import { register, signedRegistration, startSolver, type TestSolver } from '../../support/solvers/solver.js'

const [first, second, ...others] = solverAccounts
const [unbonded] = others.slice(4)
if (unbonded === undefined) throw new Error('too few accounts')

let zone: Zone
let dns: DnsServer
let service: TestService

const chain = await shared(startModelChain({ bonded: 6 }))
const byDns = await shared(startSolver(chain, first))

beforeEach(async () => {
  zone = { 'honest.test': ['127.0.0.1'] }
  dns = await startDnsServer(zone)
  service = await startService(
    chain,
    { NODE_ENV: 'production', SOLVER_ENDPOINT_ALLOWLIST: '127.0.0.0/8,localhost', QUOTE_TIMEOUT_MS: '2000' },
    { nameServers: [dns.address] },
  )
})

afterEach(async () => {
  await service.close()
  await dns.close()
})

const at = (solver: TestSolver, name: string) => solver.endpointUrl.replace('127.0.0.1', name)

const tryRegistering = async (account: typeof first, endpointUrl: string) =>
  service.post(`/v1/${chain.chainId}/solvers/register`, await signedRegistration(account, { endpointUrl }))

const isAsked = (name: string) => dns.asked.includes(`A ${name}`)
const untilAsked = (name: string) => eventually(async () => isAsked(name), Boolean)

describe('the name of an endpoint', () => {
  it('is not looked up without a bond', async () => {
    const { body } = await tryRegistering(unbonded, 'https://stranger.test')
    expect(body.code).toBe('BOND_INSUFFICIENT')
    expect(dns.asked).toEqual([])
  })

  it('is not looked up without a place', async () => {
    const full = await startService(
      chain,
      { NODE_ENV: 'production', SOLVER_ENDPOINT_ALLOWLIST: '127.0.0.1', MAX_SOLVERS_PER_CHAIN: '1' },
      { nameServers: [dns.address] },
    )
    await register(full, chain.chainId, first, { endpointUrl: byDns.endpointUrl })
    const body = await signedRegistration(second, { endpointUrl: 'https://late.test' })
    const answer = await full.post(`/v1/${chain.chainId}/solvers/register`, body)
    expect(answer.body.code).toBe('SOLVER_LIMIT_REACHED')
    expect(dns.asked).toEqual([])
    await full.close()
  })

  itSlow('is rejected while another name of the same solver is looked up', async () => {
    zone['slow.test'] = 'silent'
    const pending = tryRegistering(first, 'https://slow.test')
    await untilAsked('slow.test')
    const { status, headers, body } = await tryRegistering(first, at(byDns, 'honest.test'))
    expect([status, body.code, headers.get('retry-after')]).toEqual([429, 'RATE_LIMITED', '3'])
    expect(isAsked('honest.test')).toBe(false)
    expect((await pending).body.code).toBe('ENDPOINT_REJECTED')
    await register(service, chain.chainId, first, { endpointUrl: at(byDns, 'honest.test') })
  })
})
