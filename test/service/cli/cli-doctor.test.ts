import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openSqliteFile } from '../../../packages/sqlite/src/sqlite.js'
import { commandLine } from '../../support/process/command-line.js'
import { ADA, BOB, type DoctorFixture, startDoctorFixture } from '../../support/process/doctor.js'
import { honest } from '../../support/solvers/solver.js'

let fixture: DoctorFixture

beforeAll(async () => {
  fixture = await startDoctorFixture()
})
afterAll(() => fixture?.close())

const diagnose: DoctorFixture['diagnose'] = (changes) => fixture.diagnose(changes)

/** A copy of the running service's database that a test may damage. */
function copyOfDatabase(): string {
  const path = join(mkdtempSync(join(fixture.folder, 'copy-')), 'copy.db')
  const original = openSqliteFile(fixture.environment.DB_PATH ?? '', { readonly: true })
  writeFileSync(path, original.serialize())
  original.close()
  return path
}

describe('a correct configuration', () => {
  const CHECKS = [
    'variables',
    'signatures',
    'RPC_URL_31337 reachable',
    'RPC_URL_31337 chain id',
    'RPC_URL_31337 head',
    'RPC_URL_31337 eth_getLogs',
    'RPC_URL_31337 eth_call',
    'RPC_URL_31337 eth_getBlockReceipts',
    'RPC_URL_31337 block',
    'SERVICE_ADDRESS_31337 protocol',
    'SERVICE_ADDRESS_31337 EIP-712 domain',
    'SERVICE_ADDRESS_31337 bond',
    'SERVICE_ADDRESS_31337 bond cover',
    'SERVICE_ADDRESS_31337 minimum order',
    'SERVICE_ADDRESS_31337 PROTOCOL_NAME',
    'clock',
    'DB_PATH folder',
    'DB_PATH disk',
    'DB_PATH file',
    'PORT',
    ADA,
    BOB,
  ]

  it('passes all checks in the order of the configuration, and nothing changes', async () => {
    const path = copyOfDatabase()
    const before = readFileSync(path)
    const { checkResults, failed, warned } = await diagnose({ DB_PATH: path })
    expect([failed, warned]).toEqual([[], []])
    expect(checkResults.map(({ check }) => check)).toEqual(CHECKS)
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('is printed as a line for each check', async () => {
    const { code, stdout, stderr } = await commandLine(['doctor'], { environment: fixture.environment })
    expect([code, stderr]).toEqual([0, ''])
    const passed = stdout.split('\n').flatMap((line) => /^ok {4}(.+?) {2}/.exec(line)?.[1] ?? [])
    // On a busy machine, the endpoint is slow.
    const isAlwaysFast = (check: string) => !check.endsWith(' reachable')
    expect(passed.filter(isAlwaysFast)).toEqual(CHECKS.filter(isAlwaysFast))
    expect(stdout).toContain('MIN_SOLVER_BOND is 1000 bUSD')
  })
})

describe('variables', () => {
  it('fail with a line for each mistake, and nothing else is checked', async () => {
    const { checkResults, failed } = await diagnose({ PORT: '70000', SERVICE_ADDRESS_31337: '0x12' })
    expect(failed).toEqual(['SERVICE_ADDRESS_31337', 'PORT'])
    expect(checkResults).toHaveLength(2)
    expect(checkResults[1]?.checkResult).toBe('is "70000": it must be an integer of 0 to 65535')
  })

  it('get a warning for a MIN_SOLVER_BOND of 0', async () => {
    const { failed, warned } = await diagnose({ MIN_SOLVER_BOND: '0' })
    expect([failed, warned]).toEqual([[], ['MIN_SOLVER_BOND']])
  })

  it('get a warning for sessions without PUBLIC_URLS in production', async () => {
    const { warned } = await diagnose({ NODE_ENV: 'production' })
    expect(warned).toContain('PUBLIC_URLS')
  })

  it('get a warning when they belong to a chain that is not served', async () => {
    const { failed, warned, find } = await diagnose({
      TOKEN_LIST_5: '/nowhere',
      RPC_URL_5: 'x',
      CONFIRMATIONS_5: '',
    })
    expect([failed, warned]).toEqual([[], ['TOKEN_LIST_5', 'RPC_URL_5']])
    expect(find('TOKEN_LIST_5')?.checkResult).toContain('a chain that SUPPORTED_CHAINS does not have')
  })

  it('get no full stop after a question', async () => {
    const environment = { ...fixture.environment, QUOTE_TIMEOUT: '5000' }
    const { stdout } = await commandLine(['doctor'], { environment })
    expect(stdout).toContain('did you mean QUOTE_TIMEOUT_MS? Rename it to QUOTE_TIMEOUT_MS')
  })

  it('get a warning for a near miss of a name, whether the others are right or not', async () => {
    const misspelt = { QUOTE_TIMEOUT: '5000', RPC_URL: 'http://secret.example', SUPPORTED_CHAIN: '1' }
    const { failed, warned, find } = await diagnose(misspelt)
    expect([failed, warned]).toEqual([[], Object.keys(misspelt)])
    expect(find('QUOTE_TIMEOUT')?.checkResult).toContain('did you mean QUOTE_TIMEOUT_MS?')
    expect(find('RPC_URL')?.checkResult).toContain('did you mean RPC_URL_<chainId>?')
    expect(find('RPC_URL')?.checkResult).not.toContain('secret')
    const broken = await diagnose({ ...misspelt, SUPPORTED_CHAINS: undefined })
    expect([broken.failed, broken.warned]).toEqual([['SUPPORTED_CHAINS'], Object.keys(misspelt)])
  })
})

describe('the database', () => {
  it('fails with the new migrations when it has a newer version', async () => {
    const path = copyOfDatabase()
    const database = openSqliteFile(path)
    database.exec(`insert into kysely_migration values ('999-later', '2100-01-01')`)
    database.close()
    const { failed, find } = await diagnose({ DB_PATH: path })
    expect(failed).toEqual(['DB_PATH file'])
    expect(find('DB_PATH file')?.checkResult).toContain('was written by a newer version, with 999-later')
  })

  it('gets a warning to make a backup when a migration is due', async () => {
    const path = copyOfDatabase()
    const database = openSqliteFile(path)
    const names = database.prepare('select name from kysely_migration order by name').pluck().all()
    database.prepare('delete from kysely_migration where name = ?').run(names.at(-1))
    database.close()
    const { failed, warned, find } = await diagnose({ DB_PATH: path })
    expect([failed, warned]).toEqual([[], ['DB_PATH file']])
    expect(find('DB_PATH file')?.checkResult).toContain(`gets ${names.at(-1)}`)
  })

  it('fails when it is damaged', async () => {
    const path = copyOfDatabase()
    const bytes = readFileSync(path)
    bytes.fill(0xff, 3 * 4096, 4 * 4096)
    writeFileSync(path, bytes)
    expect((await diagnose({ DB_PATH: path })).failed).toEqual(['DB_PATH file'])
    copyFileSync('package.json', path)
    expect((await diagnose({ DB_PATH: path })).find('DB_PATH file')).toMatchObject({
      status: 'fail',
      checkResult: expect.stringContaining('file is not a database'),
      remedy: expect.stringContaining('from a backup'),
    })
    truncateSync(path)
    expect((await diagnose({ DB_PATH: path })).warned).toEqual(['DB_PATH file'])
  })

  it('fails in a missing folder, and passes as a missing file', async () => {
    const missing = join(fixture.folder, 'missing', 'service.db')
    const { failed, find } = await diagnose({ DB_PATH: missing })
    expect(failed).toEqual(['DB_PATH folder'])
    expect(find('DB_PATH folder')?.remedy).toContain(`mkdir -p ${join(fixture.folder, 'missing')}`)
    const fresh = await diagnose({ DB_PATH: join(fixture.folder, 'fresh.db') })
    expect([fresh.failed, fresh.warned]).toEqual([[], []])
  })

  it('fails when it is a folder', async () => {
    const { failed, find } = await diagnose({ DB_PATH: fixture.folder })
    expect(failed).toEqual(['DB_PATH file'])
    expect(find('DB_PATH file')?.checkResult).toBe(`${fixture.folder} is a folder`)
  })

  it('gets a warning when it is in memory', async () => {
    expect((await diagnose({ DB_PATH: ':memory:' })).warned).toEqual(['DB_PATH'])
  })
})

describe('the port', () => {
  it('is reported with the health of the instance that uses it', async () => {
    const { failed, find } = await diagnose({ PORT: new URL(fixture.service.url).port })
    expect(failed).toEqual([])
    expect(find('PORT')?.checkResult).toMatch(/is in use by a running instance: version \S+, ok$/)
  })

  it('fails when another program uses it', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const { failed, find } = await diagnose({ PORT: String(port) })
    expect(failed).toEqual(['PORT'])
    expect(find('PORT')?.checkResult).toBe(
      `is ${port}, which is in use: set another one, or end the program that has it`,
    )
  })

  it('fails at an address of another machine', async () => {
    const { failed, find } = await diagnose({ HOST: '192.0.2.1' })
    expect([failed, find('HOST')?.checkResult]).toEqual([['HOST'], expect.stringContaining('0.0.0.0')])
  })
})

describe('registered solvers', () => {
  it('get a warning for an internal error, and none for a declined request', async () => {
    const { solvers } = fixture
    solvers[0].behave(async (_ask, _solver, { response }) => void response.writeHead(500).end())
    solvers[1].behave(async (_ask, _solver, { response }) => void response.writeHead(422).end())
    const { failed, warned, find } = await diagnose()
    for (const solver of solvers) solver.behave(honest())
    expect([failed, warned]).toEqual([[], [ADA]])
    expect(find(ADA)?.checkResult).toContain(
      `${solvers[0].endpointUrl}: The solver answered with status 500; only 200 carries an offer.`,
    )
    expect(find(BOB)?.checkResult).toMatch(/^answers in .*, with status 422$/)
  })

  it('fail when every solver fails', async () => {
    const { failed, warned, find } = await diagnose({ NODE_ENV: 'production', SOLVER_SESSIONS: 'false' })
    expect([failed, warned]).toEqual([['solvers of chain 31337'], [ADA, BOB]])
    expect(find(ADA)).toMatchObject({
      checkResult: expect.stringContaining('must be an https URL'),
      remedy: expect.stringContaining('SOLVER_ENDPOINT_ALLOWLIST'),
    })
    const allowed = await diagnose({
      NODE_ENV: 'production',
      PUBLIC_URLS: 'https://quotes.example',
      SOLVER_ENDPOINT_ALLOWLIST: '127.0.0.1',
    })
    expect([allowed.failed, allowed.warned]).toEqual([[], []])
  })

  it('get a warning for a solver that does not listen', async () => {
    const { solvers } = fixture
    await solvers[1].close()
    solvers[1] = { ...solvers[1], close: async () => {} }
    const { failed, warned, find } = await diagnose()
    expect([failed, warned]).toEqual([[], [BOB]])
    expect(find(BOB)?.checkResult).toContain("Nothing listens at the solver's endpoint.")
  })
})
