import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { between } from '../../support/between.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { startScene } from '../../support/service/scene.js'
import { startService, type TestService } from '../../support/service/service.js'
import {
  nextTimestamp,
  register,
  signedRegistration,
  signedUnregistration,
} from '../../support/solvers/solver.js'

const [named, first, second, third, unbonded] = solverAccounts
const ENDPOINT = 'http://127.0.0.1:9/solver/'

const { chain, service } = await startScene({ bonded: 4 })
const path = `/v1/${chain.chainId}/solvers`

type Listed = { address: string; name: string; registeredAt: number }
const listed = async (): Promise<Listed[]> => (await service.get(path)).body

const registrationOf = (account = first, options: Partial<Parameters<typeof signedRegistration>[1]> = {}) =>
  signedRegistration(account, { endpointUrl: ENDPOINT, ...options })

describe('a registration', () => {
  it('lists the solver with name and time, without its endpoint, in EIP-55 form for any letter case', async () => {
    const before = Date.now()
    const body = { ...(await registrationOf(named)), address: named.address.toLowerCase(), name: 'Größe ✓' }
    const answer = await service.post(`${path}/register`, body)
    const check = { outcome: 'FAILED', explanation: "Nothing listens at the solver's endpoint." }
    expect([answer.status, answer.body]).toEqual([
      200,
      { status: 'registered', address: named.address, check },
    ])
    expect(await listed()).toEqual([
      { address: named.address, name: 'Größe ✓', registeredAt: between(before, Date.now()) },
    ])
  })

  it('of a registered solver updates endpoint and name, and keeps its position in the list', async () => {
    await register(service, chain.chainId, first, { endpointUrl: ENDPOINT, name: 'Old' })
    await register(service, chain.chainId, second, { endpointUrl: ENDPOINT, name: 'Other' })
    const before = (await listed()).find(({ name }) => name === 'Old')
    await register(service, chain.chainId, first, { endpointUrl: 'http://127.0.0.1:10', name: 'New' })
    expect((await listed()).slice(-2)).toMatchObject([{ ...before, name: 'New' }, { name: 'Other' }])
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
    // One that is registered needs no further place.
    await register(strict, chain.chainId, second, { endpointUrl: ENDPOINT })
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
    const unknown = await faults(solverAccounts[5], timestamp)
    const message = 'The signature is not by this address over the expected message.'
    expect(unknown).toEqual(Array(2).fill([401, 'SIGNATURE_INVALID', message]))
    for (const each of [timestamp - 1000, timestamp, timestamp + 1000])
      expect(await faults(first, each)).toEqual(unknown)
  })
})

it('a captured message is rejected after a later one, and as one of the other kind', async () => {
  const registration = await registrationOf(third)
  const withdrawal = { ...(await signedUnregistration(third)) }
  const withdraw = (body: object) => service.delete(`${path}/${third.address}`, body)
  expect((await service.post(`${path}/register`, registration)).status).toBe(200)
  expect((await withdraw(withdrawal)).body).toEqual({ status: 'removed', address: third.address })
  expect((await service.post(`${path}/register`, registration)).body.code).toBe('TIMESTAMP_REUSED')

  await register(service, chain.chainId, third, { endpointUrl: ENDPOINT })
  expect(await withdraw(withdrawal)).toMatchObject({ status: 401, body: { code: 'TIMESTAMP_REUSED' } })
  const { signature, timestamp } = await registrationOf(third)
  const mixed = await withdraw({ signature, timestamp })
  expect(mixed).toMatchObject({ status: 401, body: { code: 'SIGNATURE_INVALID' } })
  expect((await listed()).map(({ address }) => address)).toContain(third.address)
})
