import { privateKeyToAccount } from 'viem/accounts'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createManualClock } from '../../../../test/support/manual-clock.js'
import { only } from '../../../../test/support/only.js'
import { registerEndpoint, withSecretPath } from '../../src/quoting/register-endpoint.js'
import type { SolverParts } from '../../src/solver-parts.js'

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const REGISTERED = { status: 'registered', address: account.address }
const ENDPOINT_URL = 'https://solver.example/Zm9yIHRoZSB0ZXN0cyBvbmx5'

/** Registers at two instances, which answer as the test says. */
function register(answer: (attempts: number) => Response, endpointUrl = ENDPOINT_URL) {
  const clock = createManualClock()
  const hosts: string[] = []
  vi.stubGlobal('fetch', async (url: string | URL) => {
    hosts.push(new URL(url).host)
    return answer(hosts.length)
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  const errors: string[] = []
  const warnings: { proposal?: string }[] = []
  const aggregatorUrl = ['http://first', 'http://second']
  const parts = {
    options: { aggregatorUrl, protocolName: 'Service', name: 'Dora', chains: { 31337: {} } },
    account,
    clock,
    log: { info() {}, warn: (fields: object) => void warnings.push(fields) },
    onError: (error: unknown) => void errors.push(String(error)),
    signal: new AbortController().signal,
  }
  return {
    registering: registerEndpoint(only<SolverParts>(parts), endpointUrl),
    clock,
    hosts,
    errors,
    warnings,
  }
}

const refusal = (status: number, code: string, headers = {}) =>
  Response.json({ error: 'Not now.', code }, { status, headers })

it('a registration is tried at the next URL when the instance asks for it, and no earlier', async () => {
  const { registering, clock, hosts } = register((attempts) =>
    attempts > 1 ? Response.json(REGISTERED) : refusal(429, 'RATE_LIMITED', { 'retry-after': '120' }),
  )
  await vi.waitFor(() => expect(clock.waiting).toBe(1))
  await clock.advance(119_999)
  expect(hosts).toEqual(['first'])
  await clock.advance(1)
  await registering
  expect(hosts).toEqual(['first', 'second'])
})

it('a registration that the instance never accepts fails', async () => {
  const { registering, hosts } = register(() => refusal(401, 'SIGNATURE_INVALID'))
  await expect(registering).rejects.toMatchObject({ reason: 'SIGNATURE_INVALID' })
  expect(hosts).toHaveLength(1)
})

it.each([
  ['FAILED', true],
  ['INVALID', true],
  ['SKIPPED', false],
])('a registration whose check ends with %s is reported: %s', async (outcome, isReported) => {
  const check = { outcome, explanation: 'Nothing listens there.' }
  const { registering, errors } = register(() => Response.json({ ...REGISTERED, check }))
  await registering
  expect(errors).toEqual(isReported ? [expect.stringContaining(check.explanation)] : [])
})

it('an endpoint that strangers can guess is warned of, each time with a new proposal', async () => {
  const proposals = new Set<unknown>()
  for (const endpointUrl of ['https://solver.example', 'https://solver.example/']) {
    const { registering, warnings } = register(() => Response.json(REGISTERED), endpointUrl)
    await registering
    const proposal = expect.stringMatching(/^https:\/\/solver\.example\/[\w-]{22}$/)
    expect(warnings).toEqual([{ endpointUrl, proposal }])
    proposals.add(warnings[0]?.proposal)
  }
  expect(proposals.size).toBe(2)
})

it.each([
  ['https://solver.example', false],
  ['https://solver.example/solver/quotes', false],
  ['https://solver.example/0123456789-0123456789', false],
  [`${ENDPOINT_URL}/`, true],
  [withSecretPath('https://solver.example'), true],
])('%s has a secret path: %s', (url, isSecret) => {
  expect(withSecretPath(url) === url).toBe(isSecret)
})
