import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { openSqliteFile } from '../../../packages/sqlite/src/sqlite.js'
import { commandLine } from '../../support/process/command-line.js'
import { shared } from '../../support/shared.js'
import { honest } from '../../support/solvers/solver.js'
import { ADA, BOB, itDiagnoses, startDoctorFixture } from './doctor.js'

const CHECKS = [
  ...['variables', 'RPC_URL_31337 reachable', 'RPC_URL_31337 chain id', 'RPC_URL_31337 head'],
  ...['RPC_URL_31337 eth_getLogs', 'RPC_URL_31337 eth_call', 'RPC_URL_31337 eth_getBlockReceipts'],
  ...['RPC_URL_31337 block', 'SERVICE_ADDRESS_31337 protocol', 'SERVICE_ADDRESS_31337 EIP-712 domain'],
  ...[
    'SERVICE_ADDRESS_31337 bond',
    'SERVICE_ADDRESS_31337 bond cover',
    'SERVICE_ADDRESS_31337 minimum order',
  ],
  ...['SERVICE_ADDRESS_31337 PROTOCOL_NAME', 'DB_PATH folder', 'DB_PATH disk', 'DB_PATH file'],
  ...[ADA, BOB],
]

const fixture = await shared(startDoctorFixture())
const { environment } = fixture

afterEach(() => {
  for (const solver of fixture.solvers) solver.behave(honest())
})
/** A copy of the running service's database that a test may damage. */
function copyOfDatabase(change: (path: string) => void): { DB_PATH: string } {
  const path = join(mkdtempSync(join(fixture.folder, 'copy-')), 'copy.db')
  const original = openSqliteFile(environment.DB_PATH ?? '', { readonly: true })
  writeFileSync(path, original.serialize())
  original.close()
  change(path)
  return { DB_PATH: path }
}

const sql = (text: string) => (path: string) => {
  const database = openSqliteFile(path)
  database.exec(text)
  database.close()
}

/** The variables of a list of tokens, all with one symbol. */
function listOf(...tokens: [address: string, decimals: number][]) {
  const path = join(mkdtempSync(join(fixture.folder, 'tokens-')), 'tokens.json')
  const entries = tokens.map(([address, decimals]) => ({ chainId: 31337, symbol: 'ABC', address, decimals }))
  writeFileSync(path, JSON.stringify({ name: 'Tokens', tokens: entries }))
  return { TOKEN_LIST_31337: path }
}

it('passes all checks in the order of the configuration, each with a line, and changes nothing', async () => {
  const copy = copyOfDatabase(() => {})
  const before = readFileSync(copy.DB_PATH)
  const { checkResults, failed, warned } = await fixture.diagnose(copy)
  expect([failed, warned]).toEqual([[], []])
  expect(checkResults.map(({ check }) => check)).toEqual(CHECKS)
  expect(readFileSync(copy.DB_PATH).equals(before)).toBe(true)
  const said = checkResults.map(({ checkResult }) => checkResult).join('\n')
  expect(said).toMatch(/5 % of an offer's output.*at least 20 /s)
  const { code, stdout, stderr } = await commandLine(['doctor'], { environment })
  expect([code, stderr]).toEqual([0, ''])
  const passed = stdout.split('\n').flatMap((line) => /^ok {4}(.+?) {2}/.exec(line)?.[1] ?? [])
  // On a busy machine, the endpoint is slow.
  const isAlwaysFast = (check: string) => !check.endsWith(' reachable')
  expect(passed.filter(isAlwaysFast)).toEqual(CHECKS.filter(isAlwaysFast))
})

const MISSPELT = { QUOTE_TIMEOUT: '5000', RPC_URL: 'http://secret.example', SUPPORTED_CHAIN: '1' }

itDiagnoses(fixture, [
  {
    what: 'mistakes of variables',
    given: () => ({ PORT: '70000', SERVICE_ADDRESS_31337: '0x12' }),
    failed: ['SERVICE_ADDRESS_31337', 'PORT'],
    check: 'PORT',
    says: 'is "70000": it must be an integer of 0 to 65535',
  },
  { what: 'a bond of 0', given: () => ({ MIN_SOLVER_BOND: '0' }), warned: ['MIN_SOLVER_BOND'] },
  {
    what: 'variables of a chain that is not served',
    given: () => ({ TOKEN_LIST_5: '/nowhere', RPC_URL_5: 'x', CONFIRMATIONS_5: '' }),
    warned: ['TOKEN_LIST_5', 'RPC_URL_5'],
    says: 'a chain that SUPPORTED_CHAINS does not have',
  },
  {
    what: 'near misses of names',
    given: () => MISSPELT,
    warned: Object.keys(MISSPELT),
    says: 'did you mean QUOTE_TIMEOUT_MS?',
    remedy: 'Rename it to QUOTE_TIMEOUT_MS',
  },
  {
    what: 'a list with the decimals of the chain, and a token of which a bond covers hardly any',
    given: () => listOf([fixture.chain.contracts.weth, 18], [fixture.chain.contracts.usdc, 6]),
    warned: ['SERVICE_ADDRESS_31337 bond'],
    check: 'TOKEN_LIST_31337',
    says: 'the decimals of 2 tokens are those of the chain',
  },
  {
    what: 'a database of a newer version',
    given: () => copyOfDatabase(sql(`insert into kysely_migration values ('999-later', '2100-01-01')`)),
    failed: ['DB_PATH file'],
    says: 'was written by a newer version, with 999-later',
  },
  {
    what: 'a database for which a migration is due',
    given: () =>
      copyOfDatabase(
        sql('delete from kysely_migration where name = (select max(name) from kysely_migration)'),
      ),
    warned: ['DB_PATH file'],
    says: /gets \S+ at the next start/,
  },
  {
    what: 'a damaged database',
    given: () =>
      copyOfDatabase((path) => writeFileSync(path, readFileSync(path).fill(0xff, 3 * 4096, 4 * 4096))),
    failed: ['DB_PATH file'],
  },
  {
    what: 'a file that is no database',
    given: () => copyOfDatabase((path) => copyFileSync('package.json', path)),
    failed: ['DB_PATH file'],
    says: 'file is not a database',
    remedy: 'from a backup',
  },
  {
    what: 'a missing folder',
    given: () => ({ DB_PATH: join(fixture.folder, 'missing', 'service.db') }),
    failed: ['DB_PATH folder'],
    remedy: 'mkdir -p /',
  },
  { what: 'a database in memory', given: () => ({ DB_PATH: ':memory:' }), warned: ['DB_PATH'] },
  {
    what: 'a solver that fails, and none that declines',
    given() {
      const [ada, bob] = fixture.solvers
      ada.behave(async (_ask, _solver, { response }) => void response.writeHead(500).end())
      bob.behave(async (_ask, _solver, { response }) => void response.writeHead(422).end())
      return {}
    },
    warned: [ADA],
    says: 'The solver answered with status 500; only 200 carries an offer.',
  },
  {
    what: 'solvers that all fail',
    given: () => ({ NODE_ENV: 'production', SOLVER_SESSIONS: 'false' }),
    failed: ['solvers of chain 31337'],
    warned: [ADA, BOB],
    check: ADA,
    says: 'must be an https URL',
    remedy: 'SOLVER_ENDPOINT_ALLOWLIST',
  },
])

it('fails for wrong decimals of a list, and gets a warning for what is no token', async () => {
  const { usdc, settlement } = fixture.chain.contracts
  const { failed, warned, find } = await fixture.diagnose(listOf([usdc, 18], [settlement, 18]))
  const [token, other] = [usdc, settlement].map((address) => `TOKEN_LIST_31337 ABC (${address})`)
  const bond = 'SERVICE_ADDRESS_31337 bond'
  expect([failed, warned]).toEqual([[token], [bond, bond, other]])
  expect(find(token ?? '')?.checkResult).toBe('has 6 decimals, and 18 in the list')
})

it('gets a warning for a solver that does not listen', async () => {
  const { solvers } = fixture
  await solvers[1].close()
  solvers[1] = { ...solvers[1], close: async () => {} }
  const { failed, warned, find } = await fixture.diagnose()
  expect([failed, warned]).toEqual([[], [BOB]])
  expect(find(BOB)?.checkResult).toContain("Nothing listens at the solver's endpoint.")
})
