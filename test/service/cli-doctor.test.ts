import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Finding } from '../../src/cli/doctor/finding.js'
import { type Anvil, startAnvil } from '../../src/devnet/anvil.js'
import { commandLine } from '../cli/command-line.js'
import { solverAccounts, startChain, type TestChain } from './chain.js'
import { type RpcProxy, startRpcProxy } from './rpc-proxy.js'
import { environmentFor, startService, type TestService } from './service.js'
import { honest, startSolver, type TestSolver } from './test-solver.js'

const HOUR = 3600
/** `eip712Domain()` */
const DOMAIN = '0x84b0196e'
const NOBODY = `0x${'11'.repeat(20)}`
const [first, second] = solverAccounts

let folder: string
let chain: TestChain
/** Has the chain's id, and is another network, whose clock is an hour ahead. */
let stranger: Anvil
let proxy: RpcProxy
let service: TestService
let solvers: [TestSolver, TestSolver]
let environment: Record<string, string>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'doctor-'))
  const inAnHour = String(Math.floor(Date.now() / 1000) + HOUR)
  const starting = [startChain({ bonded: 2 }), startAnvil({ extraArgs: ['--timestamp', inAnHour] })] as const
  ;[chain, stranger] = await Promise.all(starting)
  proxy = await startRpcProxy(chain.devnet.rpcUrl)
  solvers = [await startSolver(chain, first), await startSolver(chain, second)]
  environment = { ...environmentFor(chain), DB_PATH: join(folder, 'service.db') }
  service = await startService(chain, environment)
  await solvers[0].register(service, 'Ada')
  await solvers[1].register(service, 'Bob')
})
afterAll(async () => {
  await service?.close()
  await Promise.all((solvers ?? []).map((solver) => solver.close()))
  proxy?.close()
  await stranger?.stop()
  await chain?.stop()
  rmSync(folder, { recursive: true })
})

/** What the doctor says of the good configuration with these changes. */
async function diagnose(changes: Record<string, string | undefined> = {}) {
  const { code, stdout, stderr } = await commandLine(['doctor', '--json'], {
    environment: { ...environment, ...changes },
  })
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] }
  const failed = findings.filter(({ status }) => status === 'fail')
  expect([code, ok]).toEqual(failed.length === 0 ? [0, true] : [5, false])
  expect(stderr).toContain(failed.length === 0 ? '' : `${failed.length} of ${findings.length} checks failed`)
  for (const { status, cure } of findings) if (status === 'fail') expect(cure).toMatch(/[.?]$/)
  return {
    findings,
    failed: failed.map(({ check }) => check),
    warned: findings.filter(({ status }) => status === 'warn').map(({ check }) => check),
    find: (check: string) => findings.find((finding) => finding.check === check),
  }
}

/** A copy of the running service's database, for a test to spoil. */
function copyOfDatabase(): string {
  const path = join(mkdtempSync(join(folder, 'copy-')), 'copy.db')
  const original = new SQLite(environment.DB_PATH ?? '', { readonly: true })
  writeFileSync(path, original.serialize())
  original.close()
  return path
}

describe('with everything well', () => {
  const CHECKS = [
    'variables',
    'RPC_URL_31337 reachable',
    'RPC_URL_31337 chain id',
    'RPC_URL_31337 head',
    'RPC_URL_31337 eth_getLogs',
    'RPC_URL_31337 eth_call',
    'SERVICE_ADDRESS_31337 code',
    'SERVICE_ADDRESS_31337 protocol',
    'SERVICE_ADDRESS_31337 EIP-712 domain',
    'SERVICE_ADDRESS_31337 bond',
    'clock',
    'DB_PATH folder',
    'DB_PATH disk',
    'DB_PATH file',
    'PORT',
    `solvers of chain 31337 Ada (${first.address})`,
    `solvers of chain 31337 Bob (${second.address})`,
  ]

  it('all is ok, in the order of the configuration, and nothing is changed', async () => {
    const path = copyOfDatabase()
    const before = readFileSync(path)
    const { findings, failed, warned } = await diagnose({ DB_PATH: path })
    expect([failed, warned]).toEqual([[], []])
    expect(findings.map(({ check }) => check)).toEqual(CHECKS)
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('a person reads a line for each check', async () => {
    const { code, stdout, stderr } = await commandLine(['doctor'], { environment })
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(CHECKS.length)
    lines.forEach((line, index) => {
      expect(line.startsWith(`ok    ${CHECKS[index]}  `)).toBe(true)
    })
    expect(stdout).toContain('MIN_SOLVER_BOND is 1000 bUSD')
  })

  it('over a WebSocket as well', async () => {
    const { failed, find } = await diagnose({ RPC_URL_31337: proxy.wsUrl })
    expect(failed).toEqual([])
    expect(find('RPC_URL_31337 eth_getLogs')?.status).toBe('ok')
  })
})

describe('variables', () => {
  it('each mistake is told with its variable, and nothing else is checked', async () => {
    const { findings, failed } = await diagnose({ PORT: '70000', SERVICE_ADDRESS_31337: '0x12' })
    expect(failed).toEqual(['SERVICE_ADDRESS_31337', 'PORT'])
    expect(findings).toHaveLength(2)
    expect(findings[1]?.finding).toBe('is "70000": it must be an integer of 0 to 65535')
  })
})

describe('RPC endpoints', () => {
  it('one that is dead fails beside one that lives', async () => {
    const { failed, find } = await diagnose({
      RPC_URL_31337: `http://127.0.0.1:9,${environment.RPC_URL_31337}`,
    })
    expect(failed).toEqual(['RPC_URL_31337 URL 1 reachable'])
    expect(find('RPC_URL_31337 URL 1 reachable')?.finding).toMatch(/^127\.0\.0\.1:9 does not answer: .+/)
    expect(find('RPC_URL_31337 URL 2 chain id')?.status).toBe('ok')
    expect(find('SERVICE_ADDRESS_31337 code')?.status).toBe('ok')
  })

  it('one that is down is told by its host alone, since there may be a key in its URL', async () => {
    proxy.setUp(false)
    onTestFinished(() => proxy.setUp(true))
    const { findings, failed, warned } = await diagnose({ RPC_URL_31337: `${proxy.url}/v3/secret-key` })
    expect(failed).toEqual(['RPC_URL_31337 reachable'])
    expect(warned).toEqual(['SERVICE_ADDRESS_31337', 'clock'])
    expect(JSON.stringify(findings)).not.toContain('secret-key')
    expect(findings[1]?.finding).toContain('503')
  })

  it('one of another chain fails with both ids', async () => {
    const { failed, find } = await diagnose({
      SUPPORTED_CHAINS: '1',
      RPC_URL_1: environment.RPC_URL_31337,
      SERVICE_ADDRESS_1: environment.SERVICE_ADDRESS_31337,
    })
    expect(failed).toEqual(['RPC_URL_1 chain id'])
    expect(find('RPC_URL_1 chain id')).toMatchObject({
      finding: 'answers for chain 31337, and not for 1',
      cure: expect.stringContaining('RPC_URL_1, or serve 31337 in SUPPORTED_CHAINS'),
    })
  })

  it('those of two networks with one chain id fail, and a clock far behind', async () => {
    const both = `${environment.RPC_URL_31337},${stranger.url}`
    const { failed, warned, find } = await diagnose({ RPC_URL_31337: both })
    expect(failed).toEqual(['RPC_URL_31337 agreement', 'clock'])
    expect(warned).toEqual(['RPC_URL_31337 heads'])
    expect(find('clock')).toMatchObject({
      finding: expect.stringMatching(/^it is 60 min behind/),
      cure: "Set the machine's clock, by NTP for example.",
    })
  })

  it('one that takes no batches fails', async () => {
    const server = createHttpServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const body = Buffer.concat(chunks).toString()
      if (body.startsWith('[')) return void response.writeHead(400).end()
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(chain.devnet.rpcUrl, { method: 'POST', headers, body })
      response.end(await answer.text())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => server.closeAllConnections())
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { failed } = await diagnose({ RPC_URL_31337: url })
    expect(failed).toEqual(['RPC_URL_31337 batches'])
  })

  it('one without logs by block hash fails, without calls by block hash is worth a look', async () => {
    onTestFinished(() => proxy.intercept())
    proxy.intercept(async ({ method, params }, pass) => {
      const [filter, block] = (params ?? []) as [{ blockHash?: string }, unknown]
      const isByHash = (method === 'eth_getLogs' && filter.blockHash) || typeof block === 'object'
      return isByHash ? { error: { code: -32602, message: 'invalid params' } } : pass()
    })
    const { failed, warned } = await diagnose({ RPC_URL_31337: proxy.url })
    expect(failed).toEqual(['RPC_URL_31337 eth_getLogs'])
    expect(warned).toEqual(['RPC_URL_31337 eth_call'])
  })
})

describe('the settlement contract', () => {
  it('that is not there fails', async () => {
    const { failed, find } = await diagnose({ SERVICE_ADDRESS_31337: NOBODY })
    expect(failed).toEqual(['SERVICE_ADDRESS_31337 code'])
    expect(find('SERVICE_ADDRESS_31337 code')?.finding).toContain(`no contract at ${NOBODY} on chain 31337`)
  })

  it('that is another contract fails', async () => {
    const { failed } = await diagnose({ SERVICE_ADDRESS_31337: chain.contracts.weth })
    expect(failed).toEqual(['SERVICE_ADDRESS_31337 protocol'])
  })

  it('that does not tell its domain is worth a look', async () => {
    proxy.revert(DOMAIN)
    onTestFinished(() => proxy.intercept())
    const { failed, warned, find } = await diagnose({ RPC_URL_31337: proxy.url, PROTOCOL_NAME: 'Acme' })
    expect([failed, warned]).toEqual([[], ['SERVICE_ADDRESS_31337 EIP-712 domain']])
    expect(find('SERVICE_ADDRESS_31337 EIP-712 domain')?.finding).toContain('name Acme and version 1')
  })
})

describe('the database', () => {
  it('of a newer version fails with what is new', async () => {
    const path = copyOfDatabase()
    const database = new SQLite(path)
    database.exec(`insert into kysely_migration values ('999-later', '2100-01-01')`)
    database.close()
    const { failed, find } = await diagnose({ DB_PATH: path })
    expect(failed).toEqual(['DB_PATH file'])
    expect(find('DB_PATH file')?.finding).toContain('written by a newer version: it has 999-later')
  })

  it('of an older version is worth a backup', async () => {
    const path = copyOfDatabase()
    const database = new SQLite(path)
    const names = database.prepare('select name from kysely_migration order by name').pluck().all()
    database.prepare('delete from kysely_migration where name = ?').run(names.at(-1))
    database.close()
    const { failed, warned, find } = await diagnose({ DB_PATH: path })
    expect([failed, warned]).toEqual([[], ['DB_PATH file']])
    expect(find('DB_PATH file')?.finding).toContain(`gets ${names.at(-1)}`)
  })

  it('that is damaged fails', async () => {
    const path = copyOfDatabase()
    const bytes = readFileSync(path)
    bytes.fill(0xff, 3 * 4096, 4 * 4096)
    writeFileSync(path, bytes)
    expect((await diagnose({ DB_PATH: path })).failed).toEqual(['DB_PATH file'])
    copyFileSync('package.json', path)
    expect((await diagnose({ DB_PATH: path })).find('DB_PATH file')).toMatchObject({
      status: 'fail',
      finding: expect.stringContaining('file is not a database'),
      cure: expect.stringContaining('from a backup'),
    })
    truncateSync(path)
    expect((await diagnose({ DB_PATH: path })).warned).toEqual(['DB_PATH file'])
  })

  it('in a folder that is not there fails, one that is not there itself will be made', async () => {
    const missing = join(folder, 'missing', 'service.db')
    const { failed, find } = await diagnose({ DB_PATH: missing })
    expect(failed).toEqual(['DB_PATH folder'])
    expect(find('DB_PATH folder')?.cure).toContain(`mkdir -p ${join(folder, 'missing')}`)
    const fresh = await diagnose({ DB_PATH: join(folder, 'fresh.db') })
    expect([fresh.failed, fresh.warned]).toEqual([[], []])
  })

  it('that keeps nothing is worth a look', async () => {
    expect((await diagnose({ DB_PATH: ':memory:' })).warned).toEqual(['DB_PATH'])
  })
})

describe('the port', () => {
  it('that an instance has is told with how it is', async () => {
    const { failed, find } = await diagnose({ PORT: new URL(service.url).port })
    expect(failed).toEqual([])
    expect(find('PORT')?.finding).toMatch(/is taken by an instance that serves already: version \S+, ok$/)
  })

  it('that another program has fails', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const { failed, find } = await diagnose({ PORT: String(port) })
    expect(failed).toEqual(['PORT'])
    expect(find('PORT')?.finding).toBe(`${port} is taken by another program`)
  })

  it('at an address that is not of this machine fails', async () => {
    const { failed, find } = await diagnose({ HOST: '192.0.2.1' })
    expect([failed, find('PORT')?.cure]).toEqual([['PORT'], expect.stringContaining('HOST')])
  })
})

describe('registered solvers', () => {
  const ADA = `solvers of chain 31337 Ada (${first.address})`
  const BOB = `solvers of chain 31337 Bob (${second.address})`

  it('one that is in trouble is worth a look, one that says no politely is not', async () => {
    solvers[0].behave(async (_ask, _solver, { response }) => void response.writeHead(503).end())
    solvers[1].behave(async (_ask, _solver, { response }) => void response.writeHead(422).end())
    const { failed, warned, find } = await diagnose()
    for (const solver of solvers) solver.behave(honest())
    expect([failed, warned]).toEqual([[], [ADA]])
    expect(find(ADA)?.finding).toBe(`${solvers[0].endpointUrl} answers with status 503`)
    expect(find(BOB)?.finding).toMatch(/^answers in .*, with status 422$/)
  })

  it('without any that works, there is no quote', async () => {
    const { failed, warned, find } = await diagnose({ NODE_ENV: 'production' })
    expect([failed, warned]).toEqual([['solvers of chain 31337'], [ADA, BOB]])
    expect(find(ADA)).toMatchObject({
      finding: expect.stringContaining('must be an https URL'),
      cure: expect.stringContaining('SOLVER_ENDPOINT_ALLOWLIST'),
    })
    const allowed = await diagnose({
      NODE_ENV: 'production',
      SOLVER_ENDPOINT_ALLOWLIST: '127.0.0.1',
    })
    expect([allowed.failed, allowed.warned]).toEqual([[], []])
  })

  it('one that is gone is worth a look', async () => {
    await solvers[1].close()
    solvers[1] = { ...solvers[1], close: async () => {} }
    const { failed, warned, find } = await diagnose()
    expect([failed, warned]).toEqual([[], [BOB]])
    expect(find(BOB)?.cure).toBe('Nothing listens there: tell the solver.')
  })
})
