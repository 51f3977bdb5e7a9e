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
  expect(mistakesOf({ ...LEAST, METRICS_AUTH_FILE: missing })).toMatch(
    new RegExp(`^METRICS_AUTH_FILE is ${missing}, which cannot be read: ENOENT.*$`),
  )
  const message = mistakesOf({ ...LEAST, DATABASE_URL_FILE: join(folder, 'folder') })
  expect(message).toBe(`DATABASE_URL_FILE is ${join(folder, 'folder')}, which is no file`)
})

test('an empty file is a mistake, and an empty name of a file is none', () => {
  expect(mistakesOf({ ...LEAST, METRICS_AUTH_FILE: file(' \n') })).toMatch(
    /^METRICS_AUTH_FILE is .*, which is empty$/,
  )
  expect(mistakesOf({ ...LEAST, METRICS_AUTH_FILE: ' ' })).toBe('')
})

test('other variables have no files', () => {
  expect(readConfig({ ...LEAST, PROTOCOL_NAME_FILE: file('Acme') }).protocolName).toBe('Service')
})

test('the content of a file appears in no mistake', () => {
  const message = mistakesOf({ ...LEAST, DATABASE_URL_FILE: file(`mysql://user:${PASSWORD}@host`) })
  expect(message).toContain('DATABASE_URL must be a URL')
  expect(message).not.toContain(PASSWORD)
})
