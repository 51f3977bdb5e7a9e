import { describe, expect, test } from 'vitest'
import { findViolations } from './import-rules.js'

/** The violations of a single file. */
function violationsOf(path: string, text: string): string[] {
  return findViolations(new Map([[path, text]]))
}

describe('a violation is found:', () => {
  test.each([
    [
      'a layer above',
      'src/store/a.ts',
      "import { b } from '../solvers/b.js'",
      'imports src/solvers/b.ts, which store may not',
    ],
    [
      'only a type of a layer above',
      'src/quoting/a.ts',
      "import type { B } from '../rpc/b.js'",
      'imports src/rpc/b.ts, which quoting may not',
    ],
    [
      'a layer of the same rank',
      'src/store/a.ts',
      "import { b } from '../chain/b.js'",
      'imports src/chain/b.ts, which store may not',
    ],
    [
      'main from devnet',
      'src/devnet/a.ts',
      "import '../main.js'",
      'imports src/main.ts, which devnet may not',
    ],
    [
      'devnet from main',
      'src/main.ts',
      "import { b } from './devnet/b.js'",
      'imports src/devnet/b.ts, which main may not',
    ],
    [
      'devnet from app',
      'src/app.ts',
      "import { b } from './devnet/b.js'",
      'imports src/devnet/b.ts, which app may not',
    ],
    [
      'config from domain',
      'src/domain/a.ts',
      "import { b } from '../config.js'",
      'imports src/config.ts, which domain may not',
    ],
    [
      'a layer from config',
      'src/config.ts',
      "import { b } from './signing/b.js'",
      'imports src/signing/b.ts, which config may not',
    ],
    [
      'a re-export',
      'src/domain/a.ts',
      "export { b } from '../rpc/b.js'",
      'imports src/rpc/b.ts, which domain may not',
    ],
    [
      'a re-export of everything',
      'src/domain/a.ts',
      "export * from '../rpc/b.js'",
      'imports src/rpc/b.ts, which domain may not',
    ],
    [
      'an import over several lines',
      'src/domain/a.ts',
      "import {\n  b,\n  type C,\n} from '../rpc/b.js'",
      'imports src/rpc/b.ts, which domain may not',
    ],
    [
      'a dynamic import',
      'src/domain/a.ts',
      "const b = await import('../rpc/b.js')",
      'imports src/rpc/b.ts, which domain may not',
    ],
    [
      'the type of an import',
      'src/domain/a.ts',
      "type B = import('../rpc/b.js').B",
      'imports src/rpc/b.ts, which domain may not',
    ],
    [
      'a package in domain',
      'src/domain/a.ts',
      "import { getAddress } from 'viem'",
      'imports viem, though domain imports nothing but itself',
    ],
    [
      'a Node module in domain',
      'src/domain/a.ts',
      "import { readFileSync } from 'node:fs'",
      'imports node:fs, though domain imports nothing but itself',
    ],
    [
      'generated code in domain',
      'src/domain/a.ts',
      "import { B } from '../../gen/b.js'",
      'imports gen/b.ts, though domain imports nothing but itself',
    ],
    [
      'SQL outside the store',
      'src/solvers/a.ts',
      "import { sql } from 'kysely'",
      'imports kysely, which belongs to store',
    ],
    [
      'the database outside the store',
      'src/app.ts',
      "import SQLite from 'better-sqlite3'",
      'imports better-sqlite3, which belongs to store',
    ],
    [
      'undici outside solvers',
      'src/quoting/a.ts',
      "import { Agent } from 'undici'",
      'imports undici, which belongs to solvers',
    ],
    [
      'Fastify outside http',
      'src/rpc/a.ts',
      "import type { FastifyReply } from 'fastify'",
      'imports fastify, which belongs to http and devnet',
    ],
    [
      "Fastify's plugins outside http",
      'src/rpc/a.ts',
      "import cors from '@fastify/cors'",
      'imports @fastify/cors, which belongs to http and devnet',
    ],
    [
      'a part of a package',
      'src/rpc/a.ts',
      "import b from 'fastify/lib/b.js'",
      'imports fastify/lib/b.js, which belongs to http and devnet',
    ],
    [
      'a client outside chain',
      'src/rpc/a.ts',
      "import { createPublicClient, getAddress, http as h } from 'viem'",
      'imports createPublicClient, http of viem, which belongs to chain and devnet',
    ],
    [
      'all of viem outside chain',
      'src/rpc/a.ts',
      "import * as viem from 'viem'",
      'imports * of viem, which belongs to chain and devnet',
    ],
    [
      'messages outside rpc and http',
      'src/quoting/a.ts',
      "import type { Quote } from '../../gen/aggregator/v1/quote_pb.js'",
      'imports messages of gen/aggregator/v1/quote_pb.ts',
    ],
    [
      'messages in app',
      'src/app.ts',
      "import { QuoteSchema } from '../gen/aggregator/v1/quote_pb.js'",
      'imports messages of gen/aggregator/v1/quote_pb.ts',
    ],
    ['an unknown folder', 'src/utils/a.ts', "import { b } from './b.js'", 'is outside the known layers'],
    ['the environment', 'src/http/a.ts', 'const port = process.env.PORT', 'reads process.env'],
    [
      'the environment by its module',
      'src/http/a.ts',
      "import { env } from 'node:process'",
      'reads process.env',
    ],
    ['the environment taken out of process', 'src/http/a.ts', 'const { env } = process', 'reads process.env'],
  ])('%s', (_what, path, text, violation) => {
    expect(violationsOf(path, text)).toEqual([`${path} ${violation}`])
  })

  test('a cycle, even of types within a layer', () => {
    const files = new Map([
      ['src/domain/a.ts', "import type { B } from './b.js'"],
      ['src/domain/b.ts', "import { c } from './c.js'"],
      ['src/domain/c.ts', "export { A } from './a.js'"],
    ])
    expect(findViolations(files)).toEqual([
      'cycle: src/domain/a.ts -> src/domain/b.ts -> src/domain/c.ts -> src/domain/a.ts',
    ])
  })

  test('a file that imports itself', () => {
    expect(violationsOf('src/rpc/a.ts', "import { a } from './a.js'")).toEqual([
      'cycle: src/rpc/a.ts -> src/rpc/a.ts',
    ])
  })
})

describe('no violation is found for', () => {
  test.each([
    ['a layer below', 'src/http/a.ts', "import { b } from '../domain/b.js'\nimport { c } from '../rpc/c.js'"],
    ['its own layer', 'src/store/a.ts', "import { b } from './b.js'"],
    [
      'a file next to the imported one',
      'src/signing/a.ts',
      "import { b } from '../telemetry/log.js'\nimport { c } from '../config.js'",
    ],
    [
      'domain in a file outside the layers',
      'src/config.ts',
      "import { b } from './domain/b.js'\nimport { c } from './telemetry/log.js'",
    ],
    [
      'app from devnet',
      'src/devnet/a.ts',
      "import { createApp } from '../app.js'\nimport Fastify from 'fastify'",
    ],
    ['a client in chain', 'src/chain/a.ts', "import { createPublicClient, http, webSocket } from 'viem'"],
    ['an address by viem', 'src/rpc/a.ts', "import { getAddress } from 'viem'"],
    [
      'services in devnet',
      'src/devnet/a.ts',
      "import { QuoteService } from '../../gen/aggregator/v1/quote_pb.js'",
    ],
    [
      'the contract in chain',
      'src/chain/a.ts',
      "import { settlementAbi } from '../../gen/contracts/settlement.js'",
    ],
    ['a package whose name only begins alike', 'src/rpc/a.ts', "import b from 'fastify-b'"],
    ['the environment in config', 'src/config.ts', 'const environment = process.env'],
    [
      'words in a comment',
      'src/rpc/a.ts',
      "// process.env is read in config\n/** import { b } from '../http/b.js' */",
    ],
    ['other parts of process', 'src/rpc/a.ts', 'process.exit(1)'],
  ])('%s', (_what, path, text) => {
    expect(violationsOf(path, text)).toEqual([])
  })
})
