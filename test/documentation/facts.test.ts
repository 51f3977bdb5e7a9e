import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import type { DescMessage } from '@bufbuild/protobuf'
import { parseAbiItem, recoverMessageAddress, toFunctionSignature } from 'viem'
import { describe, expect, it } from 'vitest'
import { DepositedSchema } from '../../gen/aggregator/v1/event_pb.js'
import { QuoteSchema } from '../../gen/aggregator/v1/quote_pb.js'
import { OpenSessionRequestSchema, OpenSessionResponseSchema } from '../../gen/aggregator/v1/session_pb.js'
import { settlementAbi } from '../../gen/contracts/settlement.js'
import { ENDPOINT_CASES, SESSION_CASES } from '../../packages/cli/src/certify/cases/all-cases.js'
import { EXIT_CODE_HELP } from '../../packages/cli/src/exit-codes.js'
import { REASONS } from '../../packages/protocol/src/errors.js'
import { keccak256, quoteTypeHash } from '../../packages/protocol/src/signing/typed-data.js'
import { sessionMessage } from '../../packages/protocol/src/solvers/registration-messages.js'
import { DECLINE_CODES } from '../../packages/protocol/src/solvers/solver-result.js'
import { readMessage } from '../../packages/solver/src/session/session-messages.js'

const read = (path: string) => readFileSync(path, 'utf8')

describe('docs/api.md', () => {
  it('has every error with its statuses, and no others', () => {
    const rows = [...read('docs/api.md').matchAll(/^\| `([A-Z_]+)` \| (\d+) \| ([A-Z_]+) \|/gm)]
    const listed = rows.map(([, code = '', http, rpc = '']) => [code, Number(http), rpc.toLowerCase()])
    const known = Object.entries(REASONS).map(([code, { http, rpc }]) => [code, http, rpc])
    expect(listed.sort()).toEqual(known.sort())
  })
})

describe('docs/cli.md', () => {
  it('has every exit code', () => {
    const rows = [...read('docs/cli.md').matchAll(/^\| (\d+) \| (.+) \|$/gm)]
    const listed = rows.map(([, code, meaning = '']) => [Number(code), meaning.replaceAll('`', '')])
    expect(listed).toEqual(EXIT_CODE_HELP)
  })
})

describe('docs/solvers.md', () => {
  const document = read('docs/solvers.md')

  it('has the type string of the struct that solvers sign', () => {
    const [typeString = ''] = /^ServiceQuote\(.*\)$/m.exec(document) ?? []
    expect(Buffer.from(keccak256(Buffer.from(typeString)))).toEqual(Buffer.from(quoteTypeHash('Service')))
  })

  it('has every case of certify', () => {
    const [, section = ''] = /^## Check your solver\n(.*?)^## /ms.exec(document) ?? []
    const rows = [...section.matchAll(/^\| (`.*?`) \|/gm)].map(([, names = '']) => names)
    const listed = rows.flatMap((names) => [...names.matchAll(/`([\w-]+)`/g)].map(([, name]) => name))
    const known = [{ name: 'session-open' }, { name: 'miss-cost' }, ...ENDPOINT_CASES, ...SESSION_CASES].map(
      ({ name }) => name,
    )
    expect(new Set(listed)).toEqual(new Set(known))
    expect(listed).toHaveLength(new Set(known).size)
  })

  it('has calls, views, events and errors as the settlement contract has them', () => {
    const rows = [...document.matchAll(/^\| (`\w+\(.*?\)`(, `\w+\(.*?\)`)*) \|/gm)].map(
      ([, names = '']) => names,
    )
    const named = rows.flatMap((names) => [...names.matchAll(/`(.*?)`/g)].map(([, name = '']) => name))
    const signatures = named.map((name) =>
      toFunctionSignature(parseAbiItem(`function ${name.replaceAll(' indexed', '')}`) as never),
    )
    const known = settlementAbi
      .filter(({ type }) => ['function', 'event', 'error'].includes(type))
      .map((item) => toFunctionSignature({ ...item, type: 'function' } as never))
    expect(signatures.length).toBeGreaterThan(30)
    expect(signatures.filter((signature) => !known.includes(signature))).toEqual([])
  })
})

describe('docs/sessions.md', () => {
  const document = read('docs/sessions.md')
  const blocks = [...document.matchAll(/^```json\n(.*?)^```$/gms)].map(([, json = '']) => JSON.parse(json))
  const messages = new Map(blocks.map((block) => [block.type, block]))

  it('has one example of each message, with all fields of the protos', () => {
    const fieldsOf = (schema: DescMessage) => schema.fields.map(({ jsonName }) => jsonName)
    const known = [OpenSessionRequestSchema, OpenSessionResponseSchema].flatMap(({ fields }) =>
      fields.map(
        ({ jsonName, message }) => [jsonName, ['type', ...fieldsOf(message as DescMessage)]] as const,
      ),
    )
    expect(blocks.map(({ type }) => type).sort()).toEqual([...known.map(([type]) => type), 'error'].sort())
    for (const [type, fields] of known)
      expect(Object.keys(messages.get(type)), type).toEqual(
        // No result has a rank and a reason.
        fields.filter((field) => type !== 'result' || field !== 'reason'),
      )
    expect(Object.keys(messages.get('quote').quote)).toEqual(fieldsOf(QuoteSchema))
    expect(Object.keys(messages.get('event').event)).toEqual(['type', ...fieldsOf(DepositedSchema), 'cursor'])
  })

  it('has messages of the instance that the client of the local network reads', () => {
    for (const type of ['challenge', 'ready', 'result', 'ping', 'goAway', 'error'])
      expect(readMessage(JSON.stringify(messages.get(type)))?.type).toBe(type)
    const request = readMessage(JSON.stringify(messages.get('quoteRequest')))
    expect(request).toMatchObject({ type: 'quoteRequest', request: { amount: 10n ** 18n, kind: 'FIRM' } })
  })

  it('has the text that its hello signs', async () => {
    const { address, signature, ...hello } = messages.get('hello')
    const { nonce } = messages.get('challenge')
    const message = sessionMessage('Service', { ...hello, address, nonce })
    expect(document).toContain(`\`\`\`\n${message}\n\`\`\``)
    expect((await recoverMessageAddress({ message, signature })).toLowerCase()).toBe(address)
  })

  it('has every code of a decline', () => {
    const [, codes = ''] = /^`code` is (.*)\. A code/m.exec(document) ?? []
    expect([...codes.matchAll(/`(\w+)`/g)].map(([, code]) => code)).toEqual(DECLINE_CODES)
  })
})

describe('CONTRIBUTING.md', () => {
  it('names only files and folders that exist', () => {
    const named = [
      ...read('CONTRIBUTING.md').matchAll(/`((?:src|packages|proto|scripts|test|docs|deploy)\/[\w./-]*)`/g),
    ].map(([, path = '']) => path)
    expect(named.length).toBeGreaterThan(50)
    expect(named.filter((path) => !existsSync(path))).toEqual([])
  })
})

describe('docs/glossary.md', () => {
  it('has a line for each folder of src, and for each folder in these', () => {
    const [, section = ''] = /^## Folders\n(.*)/ms.exec(read('docs/glossary.md')) ?? []
    const cells = [...section.matchAll(/^\| (`.*?`) \|/gm)].map(([, cell = '']) => cell)
    const listed = cells.flatMap((cell) => [...cell.matchAll(/`(.*?)`/g)].map(([, name]) => name))
    const isFolder = (path: string) => statSync(`src/${path}`).isDirectory()
    const entries = readdirSync('src')
    const below = entries
      .filter(isFolder)
      .flatMap((folder) => readdirSync(`src/${folder}`).map((name) => `${folder}/${name}`))
    expect(listed.sort()).toEqual([...entries, ...below.filter(isFolder)].sort())
  })
})

describe('documents', () => {
  const linesOf = (text: string) => text.trimEnd().split('\n').length

  it('have at most 150 lines in README.md, and 6,400 in docs', () => {
    expect(linesOf(read('README.md'))).toBeLessThanOrEqual(150)
    const pages = readdirSync('docs').filter((name) => name.endsWith('.md'))
    const lines = pages.map((name) => linesOf(read(`docs/${name}`)))
    expect(lines.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(6_400)
  })

  it('have each decision on one screen', () => {
    const records = read('docs/decisions.md').split(/^(?=## )/m)
    expect(records.length).toBeGreaterThan(20)
    expect(records.filter((record) => linesOf(record) > 45)).toEqual([])
  })
})
