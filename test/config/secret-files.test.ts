import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.js'
import { ConfigError } from '../../src/config/environment.js'

const LEAST = {
  SUPPORTED_CHAINS: '1',
  SERVICE_ADDRESS_1: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  RPC_URL_1: 'http://127.0.0.1:8545',
}
const { RPC_URL_1: _, ...WITHOUT_RPC } = LEAST
const PASSWORD = 's3cret'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quote-aggregator-'))
  mkdirSync(join(folder, 'folder'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function file(content: string): string {
  const path = join(folder, 'secret')
  writeFileSync(path, content)
  return path
}

/** The mistakes of a configuration, a line each. */
function mistakesOf(environment: Record<string, string>): string {
  try {
    readConfig(environment)
    return ''
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as Error).message
  }
}

test('each secret is read from its file, without the line feed at its end', () => {
  const databaseUrl = `postgres://user:${PASSWORD}@host/database`
  expect(readConfig({ ...LEAST, DATABASE_URL_FILE: file(`${databaseUrl}\r\n`) })).toEqual(
    readConfig({ ...LEAST, DATABASE_URL: databaseUrl }),
  )
  expect(readConfig({ ...LEAST, METRICS_AUTH_FILE: file(`user:${PASSWORD}\n`) }).metricsAuth).toBe(
    `user:${PASSWORD}`,
  )
  const rpcUrls = ['https://one.example.org/key', 'wss://two.example.org']
  const { chains } = readConfig({ ...WITHOUT_RPC, RPC_URL_1_FILE: file(`${rpcUrls.join(',')}\n`) })
  expect(chains[0]?.rpcUrls).toEqual(rpcUrls)
})

test('a secret that is set in both ways is a mistake, which names both variables and no value', () => {
  const message = mistakesOf({ ...LEAST, RPC_URL_1_FILE: file(`https://${PASSWORD}.example.org`) })
  expect(message).toBe('RPC_URL_1_FILE is set, and RPC_URL_1 too: set only one of them')
})

test('a file that cannot be read is a mistake, which names its variable once', () => {
  const missing = join(folder, 'missing')
  expect(mistakesOf({ ...LEAST, METRICS_AUTH_FILE: missing })).toBe(
    'METRICS_AUTH_FILE names a file, which cannot be read: ENOENT',
  )
  const message = mistakesOf({ ...LEAST, DATABASE_URL_FILE: join(folder, 'folder') })
  expect(message).toBe('DATABASE_URL_FILE names a file, which is no file')
})

test('an empty file is a mistake, and an empty name of a file is none', () => {
  expect(mistakesOf({ ...LEAST, METRICS_AUTH_FILE: file(' \n') })).toBe(
    'METRICS_AUTH_FILE names a file, which is empty',
  )
  expect(mistakesOf({ ...LEAST, METRICS_AUTH_FILE: ' ' })).toBe('')
})

test('other variables have no files', () => {
  expect(readConfig({ ...LEAST, PROTOCOL_NAME_FILE: file('Acme') }).protocolName).toBe('Service')
})

test.each([
  ['RPC_URL_1', `rpc.example/${PASSWORD}`],
  ['RPC_URL_1', `user:${PASSWORD}@rpc.example`],
  ['RPC_URL_1', `https://user:%zz${PASSWORD}@rpc.example`],
  ['RPC_URL_1', `https://rpc.example:0/${PASSWORD}`],
  ['RPC_URL_1', `https://a.example/${PASSWORD}\nhttps://b.example`],
  ['DATABASE_URL', `mysql://user:${PASSWORD}@host`],
  ['METRICS_AUTH', PASSWORD],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', `ftp://user:${PASSWORD}@collector`],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', `http://user:%zz${PASSWORD}@collector`],
])('no mistake of %s shows any of its value %s, from the environment or a file', (variable, value) => {
  const environment = variable === 'RPC_URL_1' ? WITHOUT_RPC : LEAST
  // People also put the secret where its file is to be named.
  for (const set of [
    { [variable]: value },
    { [`${variable}_FILE`]: file(value) },
    { [`${variable}_FILE`]: value },
  ]) {
    const message = mistakesOf({ ...environment, ...set })
    expect(message).toContain(variable)
    expect(message).not.toContain(PASSWORD)
  }
})
