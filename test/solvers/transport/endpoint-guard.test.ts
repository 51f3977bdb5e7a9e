import type { LookupAddress, LookupOptions } from 'node:dns'
import { describe, expect, test } from 'vitest'
import type { ResolveAll } from '../../../src/solvers/transport/endpoint-addresses.js'
import { createEndpointGuard } from '../../../src/solvers/transport/endpoint-guard.js'

const PUBLIC = '8.8.8.8'
const PUBLIC_V6 = '2606:4700:4700::1111'
const PRIVATE = '10.0.0.5'
const REJECTED = { reason: 'ENDPOINT_REJECTED', httpStatus: 400 }

/** A resolver with these names; other names do not resolve. */
function resolver(names: Record<string, readonly string[]>): ResolveAll {
  return async (host) => {
    const addresses = names[host]
    if (addresses === undefined) throw new Error(`getaddrinfo ENOTFOUND ${host}`)
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
}

interface GuardSettings {
  readonly names?: Record<string, readonly string[]>
  readonly allowlist?: readonly string[]
}

function productionGuard({ names = {}, allowlist = [] }: GuardSettings = {}) {
  return createEndpointGuard({ production: true, allowlist, resolveAll: resolver(names) })
}

/** The addresses that a socket gets for a host name. */
function look(
  guard: ReturnType<typeof productionGuard>,
  host: string,
  options: LookupOptions = { all: true },
  protocol = 'https:',
) {
  return new Promise<{ address: string | LookupAddress[]; family: number | undefined }>((resolve, reject) => {
    guard.lookupFor(protocol)(host, options, (error, address, family) =>
      error === null ? resolve({ address, family }) : reject(error),
    )
  })
}

describe('in production', () => {
  test('an https endpoint at public addresses is allowed', async () => {
    const guard = productionGuard({ names: { 'solver.example': [PUBLIC, PUBLIC_V6] } })
    await expect(guard.assertAllowed('https://solver.example:8443/api')).resolves.toBeUndefined()
    expect(() => guard.assertDiallable('https:', 'solver.example')).not.toThrow()
  })

  test('http is rejected, even at a public address', async () => {
    const guard = productionGuard({ names: { 'solver.example': [PUBLIC] } })
    await expect(guard.assertAllowed('http://solver.example')).rejects.toMatchObject(REJECTED)
    await expect(guard.assertAllowed(`http://${PUBLIC}`)).rejects.toMatchObject(REJECTED)
    expect(() => guard.assertDiallable('http:', PUBLIC)).toThrow('https')
    await expect(look(guard, 'solver.example', { all: true }, 'http:')).rejects.toMatchObject(REJECTED)
  })

  test.each([
    ['a private one', [PRIVATE]],
    ['a private one before a public one', [PRIVATE, PUBLIC]],
    ['a private one after public ones', [PUBLIC, PUBLIC_V6, PRIVATE]],
  ])(
    'a name with %s among its addresses is rejected at registration and on connect',
    async (_what, addresses) => {
      const guard = productionGuard({ names: { 'solver.example': addresses } })
      await expect(guard.assertAllowed('https://solver.example')).rejects.toMatchObject(REJECTED)
      await expect(look(guard, 'solver.example')).rejects.toMatchObject(REJECTED)
      await expect(look(guard, 'solver.example', {})).rejects.toMatchObject(REJECTED)
    },
  )

  test('a name without any address, or that does not resolve, is rejected', async () => {
    const guard = productionGuard({ names: { 'solver.example': [] } })
    await expect(guard.assertAllowed('https://gone.example')).rejects.toMatchObject(REJECTED)
    await expect(guard.assertAllowed('https://solver.example')).rejects.toMatchObject(REJECTED)
    await expect(look(guard, 'solver.example')).rejects.toMatchObject(REJECTED)
  })

  test.each([
    'https://127.0.0.1',
    'https://１２７.0.0.1',
    'https://[::1]',
    'https://[::ffff:127.0.0.1]',
    'https://2130706433',
    'https://127.0.0.1.',
    'https://user@10。0。0。1:8443/api',
  ])('%s is rejected without a lookup', async (url) => {
    const lookedUp: string[] = []
    const guard = createEndpointGuard({
      production: true,
      allowlist: [],
      async resolveAll(host) {
        lookedUp.push(host)
        return [{ address: PUBLIC, family: 4 }]
      },
    })
    await expect(guard.assertAllowed(url)).rejects.toMatchObject(REJECTED)
    expect(() => guard.assertDiallable('https:', new URL(url).hostname)).toThrow('public IP address')
    expect(lookedUp).toEqual([])
  })

  test.each([`https://${PUBLIC}`, 'https://0x08080808', `https://[${PUBLIC_V6}]:8443`])(
    '%s is allowed',
    async (url) => {
      await expect(productionGuard().assertAllowed(url)).resolves.toBeUndefined()
      expect(() => productionGuard().assertDiallable('https:', new URL(url).hostname)).not.toThrow()
    },
  )

  test.each(['https://solver.example:22', 'https://solver.example:1023/api', `https://${PUBLIC}:25`])(
    '%s is rejected for its port',
    async (url) => {
      const guard = productionGuard({ names: { 'solver.example': [PUBLIC] } })
      await expect(guard.assertAllowed(url)).rejects.toMatchObject({
        ...REJECTED,
        message: 'The endpoint must be at port 443, or at a port of 1024 to 65535.',
      })
    },
  )

  test('a lookup returns all checked addresses, or the first of them', async () => {
    const guard = productionGuard({ names: { 'solver.example': [PUBLIC_V6, PUBLIC] } })
    const all = [
      { address: PUBLIC_V6, family: 6 },
      { address: PUBLIC, family: 4 },
    ]
    expect(await look(guard, 'solver.example', { all: true })).toEqual({ address: all, family: undefined })
    expect(await look(guard, 'solver.example', {})).toEqual({ address: PUBLIC_V6, family: 6 })
    expect(await look(guard, 'solver.example', { all: false })).toEqual({ address: PUBLIC_V6, family: 6 })
  })
})

describe('the allowlist of production', () => {
  test('allows plain http and private addresses for a name', async () => {
    const guard = productionGuard({ names: { 'solver.internal': [PRIVATE] }, allowlist: ['solver.internal'] })
    await expect(guard.assertAllowed('http://Solver.Internal:8080')).resolves.toBeUndefined()
    expect(() => guard.assertDiallable('http:', 'solver.internal')).not.toThrow()
    expect(await look(guard, 'solver.internal', {})).toEqual({ address: PRIVATE, family: 4 })
  })

  test('allows a name that resolves to addresses of a network', async () => {
    const names = { 'inside.example': [PRIVATE], 'half.example': [PRIVATE, '192.168.0.1'] }
    const guard = productionGuard({ names, allowlist: ['10.0.0.0/8'] })
    for (const protocol of ['https:', 'http:']) {
      await expect(guard.assertAllowed(`${protocol}//inside.example`)).resolves.toBeUndefined()
      expect(await look(guard, 'inside.example', {}, protocol)).toEqual({ address: PRIVATE, family: 4 })
    }
    await expect(guard.assertAllowed('https://half.example')).rejects.toMatchObject(REJECTED)
  })

  test('allows any port when all addresses are in it', async () => {
    const names = { 'inside.example': [PRIVATE], 'half.example': [PRIVATE, PUBLIC] }
    const guard = productionGuard({ names, allowlist: ['10.0.0.0/8'] })
    await expect(guard.assertAllowed('http://inside.example')).resolves.toBeUndefined()
    await expect(guard.assertAllowed('https://10.0.0.5:22')).resolves.toBeUndefined()
    await expect(guard.assertAllowed('https://half.example:22')).rejects.toMatchObject(REJECTED)
  })

  test('allows nothing else', async () => {
    const names = { 'other.internal': [PRIVATE], 'public.example': [PUBLIC] }
    const guard = productionGuard({ names, allowlist: ['solver.internal', '192.168.0.0/16'] })
    for (const url of [
      'https://other.internal',
      'http://public.example',
      'https://10.0.0.5',
      'http://8.8.8.8',
    ]) {
      await expect(guard.assertAllowed(url), url).rejects.toMatchObject(REJECTED)
    }
  })
})

describe('outside production', () => {
  const guard = createEndpointGuard({
    production: false,
    allowlist: [],
    resolveAll: resolver({ localhost: ['127.0.0.1', '::1'] }),
  })

  test.each([
    'http://localhost:8080',
    'http://127.0.0.1',
    'https://[::1]',
    'http://gone.example',
    'http://0',
  ])('%s is allowed', async (url) => {
    await expect(guard.assertAllowed(url)).resolves.toBeUndefined()
    const { protocol, hostname } = new URL(url)
    expect(() => guard.assertDiallable(protocol, hostname)).not.toThrow()
  })

  test('a lookup returns all addresses of the resolver', async () => {
    expect(await look(guard, 'localhost', {})).toEqual({ address: '127.0.0.1', family: 4 })
    await expect(look(guard, 'gone.example')).rejects.toThrow('ENOTFOUND')
  })
})

test('the guard without a custom resolver asks the operating system for an allowlisted name', async () => {
  const guard = createEndpointGuard({ production: true, allowlist: ['localhost'] })
  expect((await look(guard, 'localhost', {})).address).toMatch(/^(127\.0\.0\.1|::1)$/)
})
