import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { BUILT } from '../../support/process/built.js'
import { startProcess } from '../../support/process/process.js'
import { environmentFor, startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'

type Changes = Readonly<Record<string, string | undefined>>
/** Changes of a valid configuration, and the message after the variable's name. */
type Row = readonly [variable: string, changes: Changes, message: string | RegExp]

const ID = '31337'
const SETTLEMENT = `SERVICE_ADDRESS_${ID}`
const INTEGER = 'it must be an integer of'
const HOST = 'it must be an address of this machine, or 0.0.0.0 for all of them'

const folder = mkdtempSync(join(tmpdir(), 'wrong-'))
const chain = await shared(startModelChain({ bonded: 0 }))

afterAll(async () => {
  rmSync(folder, { recursive: true })
})

/** A database file, and a module of this folder that Node loads before the service. */
const withModule = (name: string): Changes => ({
  DB_PATH: join(folder, `${name}.db`),
  NODE_OPTIONS: `--import ${resolve('test/service/operation', name)}`,
})

/** Starts the built service in a folder without a file `.env`, and waits for its end. */
async function start(changes: Changes, cwd = folder) {
  const changed = { ...environmentFor(chain), ...changes }
  const environment = Object.entries(changed).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  const main = resolve(BUILT, 'main.js')
  const service = startProcess(process.execPath, [main], Object.fromEntries(environment), { cwd })
  const code = await service.exited
  return { code, errors: service.errors(), log: service.output().replace(service.errors(), '') }
}

async function expectOneLine(variable: string, changes: Changes, message: string | RegExp, cwd?: string) {
  const { code, errors, log } = await start(changes, cwd)
  const said = `The service cannot start: ${variable} `
  expect(errors.split('\n')).toEqual([expect.stringContaining(said), ''])
  const text = errors.slice(said.length, -1)
  if (typeof message === 'string') expect(text).toBe(message)
  else expect(text).toMatch(message)
  expect(code).toBe(1)
  // The log contains no other error.
  expect(log).not.toMatch(/"level":[56]0/)
}

describe('a start with one mistake writes one line and exits with 1:', () => {
  const rows: Row[] = [
    [
      'PROTOCOL_NAME',
      { PROTOCOL_NAME: 'Wrong' },
      /^is "Wrong", but the contract 0x.*: it must be the name of the contract's quote struct/,
    ],
    ['PORT', { PORT: '3000\n4000' }, `is "3000?4000": ${INTEGER} 0 to 65535`],
    ['HOST', { HOST: '192.0.2.1' }, `is "192.0.2.1", which is not an address of this machine: ${HOST}`],
    [
      'HOST',
      { HOST: 'http://0.0.0.0' },
      `is "http://0.0.0.0", which is not an address of this machine: ${HOST}`,
    ],
    [
      'HOST',
      { HOST: 'fe80::1' },
      /^is "fe80::1", which (cannot be listened on \(\w+\)|is not an address of this machine): it must be /,
    ],
    [
      'DB_PATH',
      withModule('no-sqlite.mjs'),
      /better-sqlite3\S*, the SQLite of Node \S+, is not installed: install Python/,
    ],
  ]
  it.each(rows)('%s, with %j', (variable, changes, message) => expectOneLine(variable, changes, message))

  it('a missing contract, another contract, and another chain', async () => {
    const { address } = solverAccounts[0]
    await expectOneLine(
      SETTLEMENT,
      { [SETTLEMENT]: address },
      new RegExp(`^is ${address}, where chain ${ID} has no contract$`, 'i'),
    )
    await expectOneLine(
      SETTLEMENT,
      { [SETTLEMENT]: chain.contracts.weth },
      /^is 0x.*, which is not a settlement contract of this protocol$/,
    )
    const other = {
      SUPPORTED_CHAINS: '10',
      RPC_URL_10: chain.devnet.rpcUrl,
      SERVICE_ADDRESS_10: chain.contracts.settlement,
    }
    await expectOneLine('RPC_URL_10', other, `answers for chain ${ID}, and not for 10`)
    const two = { ...other, RPC_URL_10: `http://127.0.0.1:9,${chain.devnet.rpcUrl}` }
    await expectOneLine('RPC_URL_10', two, `URL 2 answers for chain ${ID}, and not for 10`)
  })

  it('a port and a database file that other programs use', async () => {
    const path = join(folder, 'used.db')
    const first = await startService(chain, { DB_PATH: path })
    onTestFinished(() => first.close())
    const { port } = new URL(first.url)
    await expectOneLine(
      'PORT',
      { PORT: port },
      `is ${port}, which is in use: set another one, or end the program that has it`,
    )
    await expectOneLine(
      'DB_PATH',
      { DB_PATH: path },
      /^is .*, which another service uses: stop that service, or name another file$/,
    )
  })
})

it('a start with an SQLite of another version of Node says so, and does not advise to delete the file', async () => {
  const { code, errors } = await start(withModule('other-node-version.mjs'))
  expect(code).toBe(1)
  expect(errors).toContain('was compiled against a different Node.js version')
  expect(errors).not.toContain('delete it')
})

it('a start with a misspelt variable writes a warning and succeeds', async () => {
  const environment = { ...environmentFor(chain), QUOTE_TIMEOUT: '5000', RPC_URL: 'http://secret.example' }
  const service = startProcess(process.execPath, [resolve(BUILT, 'main.js')], environment, { cwd: folder })
  await service.waitFor(/"msg":"listening"/)
  service.signal('SIGTERM')
  expect(await service.exited).toBe(0)
  const warnings = service
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{"level":40'))
  expect(warnings.map((line) => JSON.parse(line).msg)).toEqual([
    'QUOTE_TIMEOUT is set, but the service does not read it: did you mean QUOTE_TIMEOUT_MS?',
    'RPC_URL is set, but the service does not read it: did you mean RPC_URL_<chainId>?',
  ])
  expect(service.output()).not.toContain('secret')
})
