import { readFileSync } from 'node:fs'
import type { DescMessage, DescMethod } from '@bufbuild/protobuf'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { ChainService } from '../../gen/aggregator/v1/chain_pb.js'
import { EventService } from '../../gen/aggregator/v1/event_pb.js'
import { OrderService } from '../../gen/aggregator/v1/order_pb.js'
import { QuoteService } from '../../gen/aggregator/v1/quote_pb.js'
import { SolverService } from '../../gen/aggregator/v1/solver_pb.js'
import { guardOutput } from '../../packages/cli/src/io.js'
import { createAggregatorClient } from '../../packages/client/src/index.js'
import { toRequestBody } from '../../packages/protocol/src/signing/quote-request.js'
import { toPath } from '../../scripts/openapi/operations.js'
import { compileRoutes } from '../../src/http/rest/http-rules.js'
import { createProgram } from '../../src/operator/program.js'
import { exactInput } from '../support/solvers/sample-quotes.js'
import { anchorsOf } from './links.js'

/** Every method of the API. */
const METHODS = [ChainService, EventService, OrderService, QuoteService, SolverService].flatMap(
  ({ methods }): readonly DescMethod[] => methods,
)

/** Fields that the client makes of its other arguments. */
const MADE_BY_CLIENT = {
  originChainId: 'the chain of the request',
  includeCalls: 'the client makes the calls itself',
  signature: 'signRegistration, signUnregistration and signOwnResults make it',
}

/** Fields that are arguments of another name. */
const CLIENT_NAMES: Readonly<Record<string, string>> = {
  'GetQuote.userAddress': 'user',
  'StreamQuotes.userAddress': 'user',
  'StreamEvents.chainId': 'chainIds',
  'StreamEvents.type': 'types',
  'StreamEvents.orderId': 'orderIds',
  'StreamEvents.user': 'users',
  'StreamEvents.solver': 'solvers',
}

const read = (path: string) => readFileSync(path, 'utf8')
const codeOf = (path: string) => [...read(path).matchAll(/```.*?```|`[^`\n]+`/gs)].join('\n')
const nameOf = ({ parent, name }: DescMethod) => `${parent.name}/${name}`

describe('docs/api.md', () => {
  const rows = methodRows()

  it('has every method with its REST routes in the first table, and no others', () => {
    const known = METHODS.map((method): [string, string[]] => [
      nameOf(method),
      compileRoutes(method).map(({ verb, url }) => `${verb} ${toPath(url)}`),
    ])
    expect(Object.fromEntries([...rows].map(([name, { routes }]) => [name, routes]))).toEqual(
      Object.fromEntries(known),
    )
  })

  it.each(METHODS.map((method) => [nameOf(method), method] as const))(
    'leads for %s to a section with a row for each field of the request',
    (name, method) => {
      const { document, anchor } = rows.get(name) ?? expect.unreachable(`docs/api.md has no row for ${name}`)
      const known = rowsOf(sectionOf(document, anchor))
      const missing = bodyFieldsOf(method).filter((field) => !known.includes(field))
      expect(missing.map((field) => `${document}#${anchor} has no row for ${field}`)).toEqual([])
    },
  )
})

describe('docs/api.md, docs/sessions.md and docs/solvers.md', () => {
  it('have each field of every answer, in code', () => {
    const code = ['docs/api.md', 'docs/sessions.md', 'docs/solvers.md'].map(codeOf).join('\n')
    const messages = new Set<DescMessage>()
    for (const { output } of METHODS) addNested(output, messages)
    expect(messages.size).toBeGreaterThan(30)
    const fields = [...messages].flatMap(({ name, fields }) => fields.map((field) => ({ name, field })))
    // The type of an event is its field.
    const missing = fields.filter(
      ({ field }) => !field.oneof && !new RegExp(`\\b${field.jsonName}\\b`).test(code),
    )
    expect(missing.map(({ name, field }) => `${field.jsonName} of ${name}`)).toEqual([])
  })

  function addNested(message: DescMessage, messages: Set<DescMessage>): void {
    if (messages.has(message)) return
    messages.add(message)
    for (const field of message.fields) if (field.message) addNested(field.message, messages)
  }
})

describe('docs/client.md', () => {
  it('has each field of the requests that the client sends, in code', () => {
    const code = codeOf('docs/client.md')
    const client = createAggregatorClient({ baseUrl: 'http://127.0.0.1:1' })
    const fields = METHODS.filter(({ localName }) => localName in client).flatMap((method) =>
      bodyFieldsOf(method)
        .filter((field) => !(field in MADE_BY_CLIENT))
        .map((field) => [method.name, CLIENT_NAMES[`${method.name}.${field}`] ?? field] as const),
    )
    expect(fields.length).toBeGreaterThan(30)
    const missing = fields.filter(([, field]) => !new RegExp(`\\b${field}\\b`).test(code))
    expect(missing.map(([method, field]) => `${field} of ${method}`)).toEqual([])
  })
})

describe('docs/solvers.md', () => {
  it('has the fields that solvers receive, each in the example and in a row', () => {
    const section = sectionOf('docs/solvers.md', 'quote-requests')
    const [, example = ''] = /^```json\n(.*?)^```$/ms.exec(section) ?? []
    const fields = Object.keys(toRequestBody(exactInput))
    expect(Object.keys(JSON.parse(example))).toEqual(fields)
    expect(fields.filter((field) => !rowsOf(section).includes(field))).toEqual([])
  })
})

describe('docs/cli.md', () => {
  const options = optionsOf(
    createProgram({
      stdout: guardOutput(process.stdout),
      stderr: guardOutput(process.stderr),
      stdin: process.stdin,
      environment: () => ({}),
      interruption: () => new AbortController().signal,
    }),
  )

  it('has a row for each option, with the commands that have it, and no others', () => {
    const rows = read('docs/cli.md').matchAll(/^\| `(--[\w-]+)[^`]*` \| (.+?) \|/gm)
    const listed = [...rows].flatMap(([, option = '', commands = '']) =>
      [...commands.matchAll(/`(.*?)`/g)].flatMap(([, name = '']) =>
        commandsOf(name).map((of) => `${option} of ${of}`),
      ),
    )
    expect(listed.sort()).toEqual(options.map(({ option, command }) => `${option} of ${command}`).sort())
  })

  /** `bond *` stands for all commands below `bond`. */
  function commandsOf(name: string): string[] {
    if (!name.endsWith(' *')) return [name]
    const commands = new Set(options.map(({ command }) => command))
    return [...commands].filter((command) => command.startsWith(name.slice(0, -1)))
  }
})

/** The fields of a request that its path does not have. */
function bodyFieldsOf(method: DescMethod): string[] {
  // docs/sessions.md has an example of each message, which another test compares.
  if (method.methodKind === 'bidi_streaming') return []
  const inPath = compileRoutes(method).flatMap(({ pathFields }) => pathFields)
  return method.input.fields.filter((field) => !inPath.includes(field)).map(({ jsonName }) => jsonName)
}

/** The rows of the table of methods in docs/api.md, each with its routes and the heading that it leads to. */
function methodRows() {
  const rows = read('docs/api.md').matchAll(
    /^\| `(\w+\/\w+)` \| (.+?) \| .*?\]\(([\w.]*)(?:#([\w-]+))?\).*\|$/gm,
  )
  return new Map(
    [...rows].map(([, name = '', routes = '', document, anchor = '']) => [
      name,
      {
        routes: [...routes.matchAll(/`([A-Z]+ .*?)`/g)].map(([, route]) => route),
        document: document ? `docs/${document}` : 'docs/api.md',
        anchor,
      },
    ]),
  )
}

/** The part of a document between two headings of the second level that has this anchor; all of it without an anchor. */
function sectionOf(document: string, anchor: string): string {
  if (anchor === '') return read(document)
  const sections = read(document).split(/^(?=## )/m)
  const section = sections.find((text) => anchorsOf(text).has(anchor))
  return section ?? expect.unreachable(`${document} has no heading #${anchor}`)
}

/** The names in code in the first cells of all tables. */
function rowsOf(text: string): (string | undefined)[] {
  const cells = [...text.matchAll(/^\| (`.*?) \|/gm)].map(([, cell = '']) => cell)
  return cells.flatMap((cell) => [...cell.matchAll(/`(.*?)`/g)].map(([, name]) => name))
}

/** The options of a command and of those below it. */
function optionsOf(command: Command, path = ''): { option: string | undefined; command: string }[] {
  const own = command.options.map(({ long }) => ({ option: long, command: path || command.name() }))
  const below = command.commands.flatMap((each) => optionsOf(each, `${path} ${each.name()}`.trim()))
  return [...own, ...below]
}
