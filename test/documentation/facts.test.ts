import { existsSync, readFileSync } from 'node:fs'
import { parseAbiItem, toFunctionSignature } from 'viem'
import { describe, expect, it } from 'vitest'
import { settlementAbi } from '../../gen/contracts/settlement.js'
import { EXIT_CODE_HELP } from '../../src/cli/exit-codes.js'
import { REASONS } from '../../src/domain/errors.js'
import { keccak256 } from '../../src/signing/keccak.js'
import { quoteTypeHash } from '../../src/signing/typed-data.js'

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

  it('has the calls and views of the settlement contract', () => {
    const named = [...document.matchAll(/^\| `(\w+\(.*?\))` \|/gm)].map(([, call = '']) =>
      toFunctionSignature(parseAbiItem(`function ${call}`) as never),
    )
    const functions = settlementAbi.filter((item) => item.type === 'function')
    const known = functions.map((item) => toFunctionSignature(item))
    expect(named.length).toBeGreaterThan(15)
    expect(named.filter((signature) => !known.includes(signature))).toEqual([])
  })
})

describe('CONTRIBUTING.md', () => {
  it('names in its ways through the code only files that exist', () => {
    const [, ways = ''] =
      /^### Three ways through the code\n(.*?)^The client imports/ms.exec(read('CONTRIBUTING.md')) ?? []
    const steps = ways.split(/^\d+\. /m).slice(1)
    const files = steps.flatMap((step) => {
      let folder = ''
      // A name without a folder is in the folder of the name before it.
      return [...step.matchAll(/`([\w-]+\/)?([\w-]+\.ts)`/g)].map(([, itsFolder, name]) => {
        folder = itsFolder ?? folder
        return `src/${folder}${name}`
      })
    })
    expect(files.length).toBeGreaterThan(50)
    expect(files.filter((file) => !existsSync(file))).toEqual([])
  })
})
