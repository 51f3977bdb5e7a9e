import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { between } from '../../support/between.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import {
  nextTimestamp,
  register,
  signedRegistration,
  signedUnregistration,
} from '../../support/solvers/solver.js'

const [first, second, unbonded] = [solverAccounts[0], solverAccounts[1], solverAccounts[5]]
const ENDPOINT = 'http://127.0.0.1:9/solver/'

let service: TestService

const chain = await shared(startModelChain({ bonded: 2 }))
const path = `/v1/${chain.chainId}/solvers`

beforeEach(async () => {
  service = await startService(chain)
})

afterEach(() => service.close())

const registrationOf = (account = first, options: Partial<Parameters<typeof signedRegistration>[1]> = {}) =>
  signedRegistration(account, { endpointUrl: ENDPOINT, ...options })

describe('a registration', () => {
  it('lists the solver with name and time, without its endpoint, in EIP-55 form for any letter case', async () => {
    const before = Date.now()
    const body = { ...(await registrationOf()), address: first.address.toLowerCase(), name: 'Größe ✓' }
    const answer = await service.post(`${path}/register`, body)
    const check = { outcome: 'FAILED', explanation: "Nothing listens at the solver's endpoint." }
    expect([answer.status, answer.body]).toEqual([
      200,
      { status: 'registered', address: first.address, check },
    ])

    const list = await service.get(path)
    expect(list.body).toEqual([
      { address: first.address, name: 'Größe ✓', registeredAt: between(before, Date.now()) },
    ])
    expect(list.body[0].registeredAt).toBeGreaterThanOrEqual(before)
  })

  it('of a registered solver updates endpoint and name, and keeps its position in the list', async () => {
    await register(service, chain.chainId, first, { endpointUrl: ENDPOINT, name: 'Old' })
    await register(service, chain.chainId, second, { endpointUrl: ENDPOINT, name: 'Other' })
    const [before] = (await service.get(path)).body
    await register(service, chain.chainId, first, { endpointUrl: 'http://127.0.0.1:10', name: 'New' })
    const { body } = await service.get(path)
    expect(body.map(({ name }: { name: string }) => name)).toEqual(['New', 'Other'])
    expect(body[0].registeredAt).toBe(before.registeredAt)
  })

  it('of a registered solver needs no further place', async () => {
    const small = await startService(chain, { MAX_SOLVERS_PER_CHAIN: '1' })
    await register(small, chain.chainId, first, { endpointUrl: ENDPOINT })
    await register(small, chain.chainId, first, { endpointUrl: ENDPOINT })
    const refused = await small.post(`${path}/register`, await registrationOf(second))
    expect(refused.body.code).toBe('SOLVER_LIMIT_REACHED')
    await small.close()
  })
})

describe('the checks run in order: fields, window, signature, timestamp, address in the endpoint, place, bond', () => {
  // Each body has the named fault and all the faults of the later checks.
  const OLD = Date.now() - 3_600_000
  const accepted = nextTimestamp()
  const faults: [string, () => Promise<object>][] = [
    ['INVALID_ARGUMENT', async () => ({ ...(await registrationOf(unbonded, { timestamp: OLD })), name: '' })],
    [
      'TIMESTAMP_OUT_OF_RANGE',
      async () => ({ ...(await registrationOf(first, { timestamp: OLD })), address: unbonded.address }),
    ],
    [
      'SIGNATURE_INVALID',
      async () => ({
        ...(await registrationOf(first, { endpointUrl: 'http://10.0.0.1' })),
        address: unbonded.address,
      }),
    ],
    [
      'TIMESTAMP_REUSED',
      () => registrationOf(second, { timestamp: accepted, endpointUrl: 'http://10.0.0.1' }),
    ],
    ['ENDPOINT_REJECTED', () => registrationOf(unbonded, { endpointUrl: 'http://10.0.0.1' })],
    ['SOLVER_LIMIT_REACHED', () => registrationOf(unbonded)],
  ]
  let strict: TestService

  beforeAll(async () => {
    strict = await startService(chain, {
      NODE_ENV: 'production',
      SOLVER_ENDPOINT_ALLOWLIST: '127.0.0.1',
      MAX_SOLVERS_PER_CHAIN: '1',
    })
    await register(strict, chain.chainId, second, { endpointUrl: ENDPOINT, timestamp: accepted })
  })
  afterAll(() => strict?.close())

  it.each(faults)('so the first fault is reported: %s', async (code, body) => {
    const answer = await strict.post(`${path}/register`, await body())
    expect(answer.body.code).toBe(code)
    expect((await strict.get(path)).body).toHaveLength(1)
  })
})

describe('a request without a valid signature of the address shows nothing about it:', () => {
  const faults = async (account: typeof first, timestamp: number) => {
    const { signature } = await signedRegistration(unbonded, { endpointUrl: ENDPOINT, timestamp })
    const body = { ...(await registrationOf(account, { timestamp })), signature }
    const answers = [
      await service.post(`${path}/register`, body),
      await service.delete(`${path}/${account.address}`, { signature, timestamp }),
    ]
    return answers.map(({ status, body: { code, error } }) => [status, code, error])
  }

  it('not whether it is registered, not its last accepted timestamp, and not whether there is a place', async () => {
    const timestamp = nextTimestamp()
    await register(service, chain.chainId, first, { endpointUrl: ENDPOINT, timestamp })
    const unknown = await faults(second, timestamp)
    const message = 'The signature is not by this address over the expected message.'
    expect(unknown).toEqual(Array(2).fill([401, 'SIGNATURE_INVALID', message]))
    for (const each of [timestamp - 1000, timestamp, timestamp + 1000])
      expect(await faults(first, each)).toEqual(unknown)
  })
})

describe('a captured message is rejected', () => {
  it('when a registration follows an unregistration, or an unregistration follows a registration', async () => {
    const registration = await registrationOf()
    const withdrawal = { ...(await signedUnregistration(first)) }
    expect((await service.post(`${path}/register`, registration)).status).toBe(200)
    expect((await service.delete(`${path}/${first.address}`, withdrawal)).body).toEqual({
      status: 'removed',
      address: first.address,
    })
    expect((await service.post(`${path}/register`, registration)).body.code).toBe('TIMESTAMP_REUSED')

    await register(service, chain.chainId, first, { endpointUrl: ENDPOINT })
    const replayed = await service.delete(`${path}/${first.address}`, withdrawal)
    expect([replayed.status, replayed.body.code]).toEqual([401, 'TIMESTAMP_REUSED'])
    expect((await service.get(path)).body).toHaveLength(1)
  })

  it('when it is sent as a message of the other kind', async () => {
    await register(service, chain.chainId, first, { endpointUrl: ENDPOINT })
    const { signature, timestamp } = await registrationOf()
    const answer = await service.delete(`${path}/${first.address}`, { signature, timestamp })
    expect([answer.status, answer.body.code]).toEqual([401, 'SIGNATURE_INVALID'])
  })

  it('in all but one of many concurrent requests', async () => {
    const body = await registrationOf(first, { timestamp: nextTimestamp() })
    const answers = await Promise.all(Array.from({ length: 8 }, () => service.post(`${path}/register`, body)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)])
  })

  it('but not when it was rejected before, because that does not use its timestamp up', async () => {
    const timestamp = nextTimestamp()
    const refused = await registrationOf(first, { timestamp, endpointUrl: 'http://127.0.0.1:11' })
    await service.post(`${path}/register`, { ...refused, endpointUrl: ENDPOINT })
    const answer = await service.post(`${path}/register`, await registrationOf(first, { timestamp }))
    expect(answer.status).toBe(200)
  })
})
