import { existsSync, readFileSync } from 'node:fs'
import type { DescMessage, DescMethod } from '@bufbuild/protobuf'
import type { Command } from 'commander'
import { recoverMessageAddress } from 'viem'
import { expect, test } from 'vitest'
import { ChainService } from '../../gen/aggregator/v1/chain_pb.js'
import { EventService } from '../../gen/aggregator/v1/event_pb.js'
import { OrderService } from '../../gen/aggregator/v1/order_pb.js'
import { QuoteService } from '../../gen/aggregator/v1/quote_pb.js'
import { OpenSessionRequestSchema, OpenSessionResponseSchema } from '../../gen/aggregator/v1/session_pb.js'
import { SolverService } from '../../gen/aggregator/v1/solver_pb.js'
import { ENDPOINT_CASES, SESSION_CASES } from '../../packages/cli/src/certify/cases/all-cases.js'
import { OUTER } from '../../packages/cli/src/certify/certify-solver.js'
import { EXIT_CODE_HELP } from '../../packages/cli/src/exit-codes.js'
import { guardOutput } from '../../packages/cli/src/io.js'
import { createAggregatorClient } from '../../packages/client/src/index.js'
import { REASONS } from '../../packages/protocol/src/errors.js'
import { toRequestBody } from '../../packages/protocol/src/signing/quote-request.js'
import { keccak256, quoteTypeHash } from '../../packages/protocol/src/signing/typed-data.js'
import { sessionMessage } from '../../packages/protocol/src/solvers/registration-messages.js'
import { DECLINE_CODES } from '../../packages/protocol/src/solvers/solver-result.js'
import { toPath } from '../../scripts/openapi/operations.js'
import { compileRoutes } from '../../src/http/rest/http-rules.js'
import { createProgram } from '../../src/operator/program.js'
import { exactInput } from '../support/solvers/sample-quotes.js'

const [api, cli, client, sessions, solvers] = ['api', 'cli', 'client', 'sessions', 'solvers'].map((name) =>
  readFileSync(`docs/${name}.md`, 'utf8'),
) as [string, string, string, string, string]

const METHODS = [ChainService, EventService, OrderService, QuoteService, SolverService].flatMap(
  ({ methods }): readonly DescMethod[] => methods,
)
const CERTIFY_CASES = [...ENDPOINT_CASES, ...SESSION_CASES, ...Object.values(OUTER)].map(({ name }) => name)
const OPTIONS = optionsOf(
  createProgram({
    stdout: guardOutput(process.stdout),
    stderr: guardOutput(process.stderr),
    stdin: process.stdin,
    environment: () => ({}),
    interruption: () => new AbortController().signal,
  }),
)

test.each<[list: string, listed: readonly string[], known: readonly string[]]>([
  [
    'the errors of docs/api.md',
    rowsOf(api, /^\| `([A-Z_]+)` \| (\d+) \| ([A-Z_]+) \|/gm).map((row) => row.join(' ').toLowerCase()),
    Object.entries(REASONS).map(([code, { http, rpc }]) => `${code} ${http} ${rpc}`.toLowerCase()),
  ],
  [
    'the methods of docs/api.md with their routes',
    // A session is no REST route.
    rowsOf(api, /^\| `(?!SolverService\/OpenSession)(\w+\/\w+)` \| (.+?) \|/gm).flatMap(
      ([method, routes = '']) => namesIn(routes).map((route) => `${method} ${route}`),
    ),
    METHODS.flatMap((method) =>
      compileRoutes(method).map(
        ({ verb, url }) => `${method.parent.name}/${method.name} ${verb} ${toPath(url)}`,
      ),
    ),
  ],
  [
    'the exit codes of docs/cli.md',
    rowsOf(cli, /^\| (\d+) \| (.+) \|$/gm).map(
      ([code, meaning]) => `${code} ${meaning?.replaceAll('`', '')}`,
    ),
    EXIT_CODE_HELP.map(([code, meaning]) => `${code} ${meaning}`),
  ],
  [
    'the options of docs/cli.md with their commands',
    rowsOf(cli, /^\| `(--[\w-]+)[^`]*` \| (.+?) \|/gm).flatMap(([option, commands = '']) =>
      namesIn(commands)
        .flatMap(commandsOf)
        .map((command) => `${option} of ${command}`),
    ),
    OPTIONS.map(({ option, command }) => `${option} of ${command}`),
  ],
  [
    'the cases of certify in docs/solvers.md',
    rowsOf(/^## Check your solver\n(.*?)^## /ms.exec(solvers)?.[1], /^\| (`.*?`) \|/gm).flatMap(
      ([names = '']) => namesIn(names),
    ),
    [...new Set(CERTIFY_CASES)],
  ],
  [
    'the codes of a decline in docs/sessions.md',
    namesIn(/^`code` is (.*)\. A code/m.exec(sessions)?.[1]),
    DECLINE_CODES,
  ],
])('%s are those of the code', (_list, listed, known) => {
  expect(listed.toSorted()).toEqual(known.toSorted())
})

/** Fields of requests that the client makes itself, or has as an argument of another name. */
const CLIENT_NAMES: Readonly<Record<string, string | undefined>> = {
  originChainId: undefined,
  includeCalls: undefined,
  signature: undefined,
  userAddress: 'user',
  'StreamEvents.chainId': 'chainIds',
  'StreamEvents.type': 'types',
  'StreamEvents.orderId': 'orderIds',
  'StreamEvents.user': 'users',
  'StreamEvents.solver': 'solvers',
}

test.each<[documents: string, text: string, fields: readonly string[]]>([
  [
    'docs/api.md, sessions.md and solvers.md have every field of the answers',
    `${api}${sessions}${solvers}`,
    // The type of an event is its field.
    [...messagesOf(METHODS.map(({ output }) => output))].flatMap(({ fields }) =>
      fields.filter(({ oneof }) => !oneof).map(({ jsonName }) => jsonName),
    ),
  ],
  [
    'docs/api.md and solvers.md have every field of the requests',
    `${api}${solvers}`,
    METHODS.flatMap(bodyFieldsOf),
  ],
  [
    'docs/client.md has every field of the requests that the client sends',
    client,
    METHODS.filter(({ localName }) => localName in createAggregatorClient({ baseUrl: 'http://127.0.0.1:1' }))
      .flatMap((method) => bodyFieldsOf(method).map((field) => [`${method.name}.${field}`, field] as const))
      .map(([own, field]) => [own, field].find((name) => name in CLIENT_NAMES) ?? field)
      .flatMap((name) => (name in CLIENT_NAMES ? (CLIENT_NAMES[name] ?? []) : name)),
  ],
  [
    'docs/solvers.md has every field that a solver receives',
    /^## Quote requests\n(.*?)^## /ms.exec(solvers)?.[1] ?? '',
    Object.keys(toRequestBody(exactInput)),
  ],
  [
    'docs/sessions.md has every message of a session with its fields',
    sessions,
    [OpenSessionRequestSchema, OpenSessionResponseSchema]
      .flatMap(({ fields }) => fields)
      .flatMap(({ jsonName, message }) => [
        jsonName,
        ...(message?.fields ?? []).map((field) => field.jsonName),
      ]),
  ],
])('%s, in code', (_documents, text, fields) => {
  const code = [...text.matchAll(/```.*?```|`[^`\n]+`/gs)].join('\n')
  expect(fields.length).toBeGreaterThan(10)
  expect(fields.filter((field) => !new RegExp(`\\b${field}\\b`).test(code))).toEqual([])
})

test('docs/solvers.md and docs/sessions.md have the texts that solvers sign', async () => {
  const typeString = /^ServiceQuote\(.*\)$/m.exec(solvers)?.[0] ?? ''
  expect(Buffer.from(keccak256(Buffer.from(typeString)))).toEqual(Buffer.from(quoteTypeHash('Service')))
  const example = (type: string) =>
    JSON.parse(
      new RegExp(`^\`\`\`json\\n(\\{\\s*"type": "${type}".*?)^\`\`\`$`, 'ms').exec(sessions)?.[1] ?? '',
    )
  const { address, signature, ...hello } = example('hello')
  const message = sessionMessage('Service', { ...hello, address, nonce: example('challenge').nonce })
  expect(sessions).toContain(message)
  expect((await recoverMessageAddress({ message, signature })).toLowerCase()).toBe(address)
})

test('CONTRIBUTING.md names only files and folders that exist', () => {
  const named = rowsOf(
    readFileSync('CONTRIBUTING.md', 'utf8'),
    /`((?:src|packages|proto|scripts|test|docs|deploy)\/[\w./-]*)`/g,
  ).flatMap(([path = '']) => path)
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter((path) => !existsSync(path))).toEqual([])
})

test('docs/path-of-a-quote.md numbers at most 45 files, which exist', () => {
  const rows = rowsOf(readFileSync('docs/path-of-a-quote.md', 'utf8'), /^(\d+)\. `([\w/.-]+)`/gm)
  expect(rows.map(([number]) => Number(number))).toEqual(rows.map((_, index) => index + 1))
  expect(rows.filter(([, path = '']) => !existsSync(path))).toEqual([])
  expect(rows.length).toBeGreaterThan(30)
  expect(rows.length).toBeLessThanOrEqual(45)
})

/** What a pattern finds in a text, each time as its groups. */
function rowsOf(text = '', pattern: RegExp): (string | undefined)[][] {
  return [...text.matchAll(pattern)].map(([, ...groups]) => groups)
}

/** The names in code. */
function namesIn(text = ''): string[] {
  return [...text.matchAll(/`(.*?)`/g)].map(([, name = '']) => name)
}

/** The options of a command and of those below it. */
function optionsOf(command: Command, path = ''): { option: string | undefined; command: string }[] {
  const own = command.options.map(({ long }) => ({ option: long, command: path || command.name() }))
  const below = command.commands.flatMap((each) => optionsOf(each, `${path} ${each.name()}`.trim()))
  return [...own, ...below]
}

/** `bond *` stands for all commands below `bond`. */
function commandsOf(name: string): string[] {
  if (!name.endsWith(' *')) return [name]
  const commands = new Set(OPTIONS.map(({ command }) => command))
  return [...commands].filter((command) => command.startsWith(name.slice(0, -1)))
}

/** Messages, with those in their fields. */
function messagesOf(messages: readonly DescMessage[], found = new Set<DescMessage>()): Set<DescMessage> {
  for (const message of messages.filter((each) => !found.has(each))) {
    found.add(message)
    messagesOf(
      message.fields.flatMap((field) => field.message ?? []),
      found,
    )
  }
  return found
}

/** The fields of a request that its path does not have. docs/sessions.md has those of sessions. */
function bodyFieldsOf(method: DescMethod): string[] {
  if (method.methodKind === 'bidi_streaming') return []
  const inPath = compileRoutes(method).flatMap(({ pathFields }) => pathFields)
  return method.input.fields.filter((field) => !inPath.includes(field)).map(({ jsonName }) => jsonName)
}
