import type { LookupAddress } from 'node:dns'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { endpointUrlProblem } from '../../../packages/protocol/src/values/endpoint-url.js'
import { createEndpointGuard } from '../../../src/solvers/transport/endpoint-guard.js'
import { rounds } from '../../support/rounds.js'
import {
  any4,
  dotted,
  embedded4,
  hexGroups,
  in4,
  in6,
  isPublic,
  public4,
  public6,
  spelled4,
  spelled6,
} from './address-arbitraries.js'

const SEED = 20_260_104
const SPELLINGS = rounds(3000, 300)
const REJECTED = { reason: 'ENDPOINT_REJECTED', httpStatus: 400 }

const PORTS = ['', ':443', ':8443', ':0', ':']
const urlOf = (host: fc.Arbitrary<string>, ports: readonly string[] = PORTS) =>
  fc
    .tuple(fc.constantFrom('', 'user@', 'user:pass@', '8.8.8.8@', 'solver.example:443@'), host)
    .chain(([user, text]) =>
      fc
        .tuple(fc.constantFrom(...ports), fc.constantFrom('', '/', '/api', '/@8.8.8.8/'))
        .map(([port, path]) => `https://${user}${text}${port}${path}`),
    )

const hold = <T>(arbitrary: fc.Arbitrary<T>, numRuns: number, judge: (value: T) => Promise<void>) =>
  fc.assert(fc.asyncProperty(arbitrary, judge), { seed: SEED, numRuns })

const guardOf = (...answers: string[][]) =>
  createEndpointGuard({
    production: true,
    allowlist: [],
    async resolveAll() {
      const addresses = (answers.length > 1 ? answers.shift() : answers[0]) ?? []
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    },
  })

describe('an endpoint at an address', () => {
  const inside4 = in4().chain(spelled4)
  const inside6 = in6().chain(spelled6)
  const embedded = fc.oneof(any4, in4()).chain(embedded4).chain(spelled6)

  test('is rejected when the address is not public, in any notation', async () => {
    const judged = { parsed: 0 }
    await hold(urlOf(fc.oneof(inside4, inside6, embedded)), SPELLINGS, async (url) => {
      if (!URL.canParse(url)) return
      judged.parsed++
      const guard = guardOf(['8.8.8.8'])
      await expect(guard.assertAllowed(url), url).rejects.toMatchObject(REJECTED)
      expect(() => guard.assertDiallable('https:', new URL(url).hostname), url).toThrow('public IP address')
    })
    expect(judged.parsed).toBeGreaterThan((SPELLINGS * 2) / 3)
  })

  const inPublic = fc.oneof(public4.chain(spelled4), public6.chain(spelled6))

  test('is allowed when the address is public, in any notation', () =>
    hold(urlOf(inPublic, ['', ':443', ':8443', ':']), rounds(1000, 100), async (url) => {
      if (URL.canParse(url)) await expect(guardOf([]).assertAllowed(url), url).resolves.toBeUndefined()
    }))

  test('is allowed only at port 443 and from 1024 on', () => {
    const port = fc.oneof(fc.constantFrom(0, 22, 80, 442, 443, 444, 1023, 1024), fc.nat(65_535))
    return hold(fc.tuple(public4.map(dotted), port), rounds(1000, 100), async ([host, number]) => {
      const verdict = guardOf([]).assertAllowed(`https://${host}:${number}`)
      if (number === 443 || number >= 1024) await expect(verdict).resolves.toBeUndefined()
      else await expect(verdict, String(number)).rejects.toMatchObject(REJECTED)
    })
  })

  test('is valid text when every reader of URLs finds the same host in it', async () => {
    const judged = { accepted: 0, corrected: 0 }
    const host = fc.oneof(inside4, inside6, embedded, inPublic, any4.map(dotted))
    await hold(urlOf(host), SPELLINGS, async (url) => {
      const problem = endpointUrlProblem(url)
      if (problem === undefined) {
        judged.accepted++
        const { protocol, host } = new URL(url)
        expect([...`${url}/`.matchAll(/^(https?:)\/\/([^/]*)\//g)][0]?.slice(1)).toEqual([protocol, host])
      }
      const [, normal] = /normalised form: (.*)$/.exec(problem ?? '') ?? []
      if (normal === undefined) return
      judged.corrected++
      expect([endpointUrlProblem(normal), new URL(normal).href]).toEqual([undefined, new URL(url).href])
    })
    expect(Math.min(judged.accepted, judged.corrected)).toBeGreaterThan(SPELLINGS / 150)
  })
})

describe('an endpoint at a name', () => {
  const address = fc.oneof(
    { weight: 3, arbitrary: public4.map(dotted) },
    { weight: 3, arbitrary: public6.map(hexGroups) },
    in4(true).map(dotted),
    in6(true).map(hexGroups),
    any4.chain(embedded4).map(hexGroups),
    fc.constantFrom(
      'fe80::1%eth0',
      '::ffff:10.0.0.1',
      '::ffff:8.8.8.8',
      '2606:4700::1%eth0',
      'localhost',
      '',
    ),
  )
  const addresses = fc.array(address, { maxLength: 5 })

  test('is allowed if and only if it has addresses and all of them are public', () =>
    hold(addresses, rounds(3000, 300), async (list) => {
      const verdict = guardOf(list).assertAllowed('https://solver.example/api')
      if (list.length > 0 && list.every((one) => isPublic(one) && !one.includes('%'))) {
        await expect(verdict).resolves.toBeUndefined()
      } else await expect(verdict, list.join()).rejects.toMatchObject(REJECTED)
    }))

  test('gets connections to public addresses only, whatever it resolved to before', () =>
    hold(fc.tuple(addresses, addresses, fc.boolean()), rounds(2000, 200), async ([before, list, all]) => {
      const guard = guardOf(before, list)
      await guard.assertAllowed('https://solver.example').catch(() => {})
      const given = await new Promise<LookupAddress[]>((resolve) => {
        guard.lookupFor('https:')('solver.example', { all }, (error, found, family = 0) => {
          if (error !== null) resolve([])
          else resolve(Array.isArray(found) ? found : [{ address: found, family }])
        })
      })
      expect(given.filter(({ address }) => !isPublic(address))).toEqual([])
      const isAllPublic = list.length > 0 && list.every((one) => isPublic(one) && !one.includes('%'))
      expect(given.length).toBe(isAllPublic ? (all ? list.length : 1) : 0)
    }))
})
