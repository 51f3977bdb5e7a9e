import { describe, expect, test } from 'vitest'
import { coalesceLookups, createDnsResolver } from '../../../src/solvers/transport/endpoint-addresses.js'
import { createEndpointGuard } from '../../../src/solvers/transport/endpoint-guard.js'
import { itSlow } from '../../support/rounds.js'
import { shared } from '../../support/shared.js'
import { startDnsServer } from '../../support/solvers/dns-server.js'

const V4 = '8.8.8.8'
const V6 = '2606:4700:4700:0:0:0:0:1111'
const V6_SHORT = '2606:4700:4700::1111'
const SILENT = Array.from({ length: 8 }, (_, index) => `silent-${index}.test`)

const zone = {
  'both.test': [V4, V6],
  'four.test': [V4],
  'six.test': [V6],
  'none.test': [],
  'private.test': ['10.0.0.1'],
  'mixed.test': [V4, 'fd00:0:0:0:0:0:0:1'],
  ...Object.fromEntries(SILENT.map((name) => [name, 'silent'])),
}
const server = await shared(startDnsServer(zone))

const resolveAll = (host: string) => createDnsResolver([server.address])(host)

describe('the resolver that asks name servers', () => {
  test.each([
    ['both families', 'both.test', [V4, V6_SHORT]],
    ['IPv4 only', 'four.test', [V4]],
    ['IPv6 only', 'six.test', [V6_SHORT]],
  ])('returns the addresses of a name with %s', async (_what, name, addresses) => {
    expect(await resolveAll(name)).toEqual(
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  })

  test('fails for a name without addresses, and for one that does not exist', async () => {
    await expect(resolveAll('none.test')).rejects.toMatchObject({ code: 'ENODATA' })
    await expect(resolveAll('gone.test')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })

  itSlow('answers while name servers of other names are silent, and times out for those', async () => {
    let answeredSilent = 0
    const silent = SILENT.map((name) => resolveAll(name).catch(() => answeredSilent++))
    await expect.poll(() => SILENT.every((name) => server.asked.includes(`A ${name}`))).toBe(true)
    expect(await resolveAll('four.test')).toHaveLength(1)
    expect(answeredSilent).toBe(0)
    await Promise.all(silent)
    expect(answeredSilent).toBe(SILENT.length)
  })
})

describe('concurrent lookups of one host', () => {
  test('are one lookup, and the next one is new', async () => {
    const answers: ((addresses: []) => void)[] = []
    const lookUp = coalesceLookups(() => new Promise((resolve) => answers.push(resolve)))
    const both = [lookUp('a.test'), lookUp('a.test')]
    void lookUp('b.test')
    expect(answers).toHaveLength(2)
    answers[0]?.([])
    await Promise.all(both)
    void lookUp('a.test')
    expect(answers).toHaveLength(3)
  })

  test('fail together, and the next one is new', async () => {
    let calls = 0
    const lookUp = coalesceLookups(async () => {
      calls++
      throw new Error('gone')
    })
    expect(await Promise.allSettled([lookUp('a.test'), lookUp('a.test')])).toHaveLength(2)
    await expect(lookUp('a.test')).rejects.toThrow('gone')
    expect(calls).toBe(2)
  })
})

describe('the guard in production', () => {
  const guard = (allowlist: readonly string[] = []) =>
    createEndpointGuard({ production: true, allowlist, nameServers: [server.address] })

  test('checks the addresses of both families', async () => {
    await expect(guard().assertAllowed('https://both.test')).resolves.toBeUndefined()
    await expect(guard().assertAllowed('https://mixed.test')).rejects.toMatchObject({
      reason: 'ENDPOINT_REJECTED',
    })
  })

  itSlow.each(['https', 'http'])(
    'has the same error for a private, a missing and a silent name by %s',
    async (scheme) => {
      const names = ['private.test', 'gone.test', 'none.test', String(SILENT[0])]
      const errors = await Promise.all(
        names.map((name) => guard().assertAllowed(`${scheme}://${name}`).catch(String)),
      )
      expect(errors[0]).toContain(scheme === 'http' ? 'an https URL' : 'public IP address')
      expect(new Set(errors).size).toBe(1)
    },
  )

  test('asks the operating system, and no name server, only for an allowlisted name', async () => {
    await expect(guard(['localhost']).assertAllowed('http://localhost:8080')).resolves.toBeUndefined()
    expect(server.asked.filter((query) => query.endsWith(' localhost'))).toEqual([])
    await expect(guard(['127.0.0.0/8']).assertAllowed('http://localhost:8080')).rejects.toThrow()
  })
})
