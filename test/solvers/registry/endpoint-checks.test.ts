import { expect, test } from 'vitest'
import { createEndpointChecks, type RegistrationCheck } from '../../../src/solvers/registry/registrations.js'
import { solver } from '../sample-solver.js'

const WELL = { outcome: 'quoted', explanation: 'well' } as const

/** Checks that each end when the test says so. */
function openChecks() {
  const share = createEndpointChecks()
  const ends: ((result: RegistrationCheck) => void)[] = []
  return {
    ends,
    check(number: number, { endpointUrl = 'https://a.example', chainId = 1 } = {}) {
      const registration = {
        ...solver(number, { chainId }),
        endpointUrl,
        timestamp: 0,
        signature: '0x' as const,
      }
      return share(registration, () => new Promise((resolve) => ends.push(resolve)))
    },
  }
}

const BUSY = { reason: 'RATE_LIMITED', retryAfterSeconds: 3 }

test('a solver has one check at a time: the same endpoint shares it, another one is refused', async () => {
  const { ends, check } = openChecks()
  const [first, same] = [check(1), check(1)]
  await expect(check(1, { endpointUrl: 'https://b.example' })).rejects.toMatchObject(BUSY)
  ends[0]?.(WELL)
  expect([await first, await same, ends.length]).toEqual([WELL, WELL, 1])
  void check(1, { endpointUrl: 'https://b.example' })
  expect(ends).toHaveLength(2)
})

test('a chain has 32 checks at a time, and each that ends makes room', async () => {
  const { ends, check } = openChecks()
  const [first] = Array.from({ length: 32 }, (_, number) => check(number))
  await expect(check(32)).rejects.toMatchObject(BUSY)
  void check(32, { chainId: 2 })
  ends[0]?.(WELL)
  await first
  void check(32)
  expect(ends).toHaveLength(34)
})
