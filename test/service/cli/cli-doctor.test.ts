import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { getAbiItem, toFunctionSelector } from 'viem'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { startAnvil } from '../../../packages/cli/src/devnet/anvil.js'
import { deploySettlement } from '../../../packages/cli/src/devnet/deploy.js'
import { openSqliteFile } from '../../../packages/sqlite/src/sqlite.js'
import { bytecodeNamed, deployer } from '../../support/chain/chain.js'
import { startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { commandLine } from '../../support/process/command-line.js'
import { ADA, BOB, startDoctorFixture } from '../../support/process/doctor.js'
import { shared } from '../../support/shared.js'
import { honest } from '../../support/solvers/solver.js'

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
const DEPOSIT_ADDRESS = toFunctionSelector(getAbiItem({ abi: settlementAbi, name: 'computeDepositAddress' }))
const NO_CONTRACT = `0x${'11'.repeat(20)}`

const inAnHour = String(Math.floor(Date.now() / 1000) + 3600)
const fixture = await shared(startDoctorFixture())
const { environment } = fixture
/** Another network with the same chain id, whose clock is an hour ahead. */
const stranger = await shared(startAnvil({ extraArgs: ['--timestamp', inAnHour] }))
const proxy = await shared(startRpcProxy(fixture.chain.devnet.rpcUrl))

afterEach(() => {
  proxy.intercept()
  proxy.setUp(true)
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

/** The proxy as the node, without a call that the contract or the node has otherwise. */
function without(what: string) {
  if (what.startsWith('0x')) proxy.revert(what as `0x${string}`)
  else
    proxy.intercept(async ({ method }, pass) =>
      method === what ? { error: { code: -32601, message: 'no such method' } } : pass(),
    )
  return { RPC_URL_31337: proxy.url }
}

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => server.closeAllConnections())
  onTestFinished(() => void server.close())
  return String((server.address() as AddressInfo).port)
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

interface Case {
  readonly what: string
  readonly given: () => Record<string, string | undefined> | Promise<Record<string, string | undefined>>
  readonly failed?: readonly string[]
  readonly warned?: readonly string[]
  /** Of the first check that fails or has a warning, when `check` is left out. */
  readonly says?: string | RegExp
  readonly check?: string
  readonly remedy?: string
}

const MISSPELT = { QUOTE_TIMEOUT: '5000', RPC_URL: 'http://secret.example', SUPPORTED_CHAIN: '1' }

const CASES: readonly Case[] = [
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
    what: 'the member of an answer that keeps the next block from being read',
    given() {
      proxy.intercept(async ({ method }, pass) => {
        if (method === 'eth_getLogs') return { result: 'pruned' }
        const reply = await pass()
        if (!method.startsWith('eth_getBlockBy')) return reply
        return { result: { ...(reply.result as object), logsBloom: null, transactions: null } }
      })
      return { RPC_URL_31337: proxy.url }
    },
    failed: ['RPC_URL_31337 block'],
    says: /^block \d+ cannot be read at logs: /,
  },
  {
    what: 'a dead endpoint only by its host, because its URL may contain a key',
    given() {
      proxy.setUp(false)
      return { RPC_URL_31337: `${proxy.url}/v3/secret-key` }
    },
    failed: ['RPC_URL_31337 reachable'],
    warned: ['SERVICE_ADDRESS_31337'],
    says: /^127\.0\.0\.1:\d+ does not answer: (?!.*secret).*503/,
  },
  {
    what: 'an endpoint of another chain, with both chain ids',
    given: () => ({
      ...{ SUPPORTED_CHAINS: '1', RPC_URL_1: environment.RPC_URL_31337 },
      SERVICE_ADDRESS_1: environment.SERVICE_ADDRESS_31337,
    }),
    failed: ['RPC_URL_1 chain id'],
    warned: ['RPC_URL_31337', 'SERVICE_ADDRESS_31337', 'SERVICE_ADDRESS_1'],
    says: 'answers for chain 31337, and not for 1',
    remedy: 'RPC_URL_1, or correct SUPPORTED_CHAINS',
  },
  {
    what: 'two networks with one chain id, and a clock that is far too early',
    given: () => ({ RPC_URL_31337: `${environment.RPC_URL_31337},${stranger.url}` }),
    failed: ['RPC_URL_31337 URL 2 head', 'RPC_URL_31337 agreement'],
    // The time in which the tests before this one ran counts too.
    says: /^block \d+, \d\d min ahead of the clock/,
    remedy: "Set the machine's clock, by NTP",
  },
  {
    what: 'an endpoint without batches, which is checked by single calls',
    async given() {
      const server = createServer(async (request, response) => {
        const body = (await request.toArray()).join('')
        if (body.startsWith('[')) return void response.writeHead(400).end()
        const headers = { 'content-type': 'application/json' }
        const answer = await fetch(fixture.chain.devnet.rpcUrl, { method: 'POST', headers, body })
        response.end(await answer.text())
      })
      return { RPC_URL_31337: `http://127.0.0.1:${await listen(server)}` }
    },
    warned: ['RPC_URL_31337 batches'],
  },
  {
    what: 'an endpoint without logs and calls by block hash',
    given() {
      proxy.intercept(async ({ method, params }, pass) => {
        const [filter, block] = (params ?? []) as [{ blockHash?: string }, unknown]
        const isByHash = (method === 'eth_getLogs' && filter.blockHash) || typeof block === 'object'
        return isByHash ? { error: { code: -32602, message: 'invalid params' } } : pass()
      })
      return { RPC_URL_31337: proxy.url }
    },
    failed: ['RPC_URL_31337 eth_getLogs'],
    warned: ['RPC_URL_31337 eth_call'],
  },
  {
    what: 'an endpoint without receipts, where nothing proves that the events are complete',
    given: () => without('eth_getBlockReceipts'),
    warned: ['RPC_URL_31337 eth_getBlockReceipts'],
  },
  {
    what: 'a contract that does not exist',
    given: () => ({ SERVICE_ADDRESS_31337: NO_CONTRACT }),
    failed: ['SERVICE_ADDRESS_31337'],
    says: `is ${NO_CONTRACT}, where chain 31337 has no contract`,
  },
  {
    what: 'a contract that does not return its domain',
    async given() {
      const { settlement } = await deploySettlement({
        ...fixture.chain.devnet,
        deployer,
        bytecode: bytecodeNamed('Acme'),
      })
      return { ...without('0x84b0196e'), SERVICE_ADDRESS_31337: settlement, PROTOCOL_NAME: 'Acme' }
    },
    warned: ['SERVICE_ADDRESS_31337 EIP-712 domain'],
    says: 'name Acme and version 1',
  },
  {
    what: 'a contract that hashes quotes with another name than PROTOCOL_NAME',
    given: () => ({ PROTOCOL_NAME: 'Wrong' }),
    failed: ['PROTOCOL_NAME'],
    says: /^is "Wrong", .* does not hash quotes as WrongQuote: it must be /,
  },
  {
    what: 'a contract without the view that shows the name',
    given: () => ({ ...without(DEPOSIT_ADDRESS), PROTOCOL_NAME: 'Wrong' }),
    warned: ['SERVICE_ADDRESS_31337 PROTOCOL_NAME'],
    says: 'no computeDepositAddress',
  },
  {
    what: 'a contract without BOND_RESERVATION_BPS',
    given: () => without('0x8e0d2385'),
    warned: ['SERVICE_ADDRESS_31337 bond cover'],
    says: 'has no BOND_RESERVATION_BPS',
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
]

it.each(CASES)(
  'reports $what',
  async ({ given, failed = [], warned = [], says = '', remedy = '', check }) => {
    const found = await fixture.diagnose(await given())
    expect([found.failed, found.warned]).toEqual([failed, warned])
    const [first] = [...failed, ...warned]
    const result = found.find(check ?? first ?? 'variables')
    expect(result?.checkResult).toMatch(says)
    expect(`${result?.remedy}`).toContain(remedy)
  },
)

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
