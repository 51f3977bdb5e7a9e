import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/config.js'
import {
  CHAIN_DEFAULTS,
  CHAIN_VARIABLES,
  DEFAULTS,
  OPTIONAL_CHAIN_VARIABLES,
  OPTIONAL_VARIABLES,
} from '../../src/config/variables.js'

const CHAIN_ID = '31337'
const example = readFileSync('.env.example', 'utf8')
const reference = readFileSync('docs/configuration.md', 'utf8')

/** Every variable of the configuration, with its default; chain variables without their chain. */
const known = new Map<string, string | undefined>([
  ...Object.entries(DEFAULTS),
  ...OPTIONAL_VARIABLES.map((name) => [name, undefined] as const),
  ...Object.entries(CHAIN_DEFAULTS).map(([name, value]) => [`${name}_<chainId>`, String(value)] as const),
  ...[...CHAIN_VARIABLES, ...OPTIONAL_CHAIN_VARIABLES].map(
    (name) => [`${name}_<chainId>`, undefined] as const,
  ),
])

const sorted = (names: Iterable<string>) => [...names].sort()

describe('.env.example', () => {
  const lines = [...example.matchAll(/^#?([A-Z_]+[0-9]*)=(.*)$/gm)].map(([, name = '', value = '']) => ({
    name: name.replace(`_${CHAIN_ID}`, '_<chainId>'),
    value,
  }))

  it('has every variable once, and no other', () => {
    expect(sorted(lines.map(({ name }) => name))).toEqual(sorted(known.keys()))
  })

  it('shows the defaults', () => {
    const shown = lines.filter(({ name }) => known.get(name) !== undefined)
    expect(shown.map(({ name, value }) => [name, value])).toEqual(
      shown.map(({ name }) => [name, known.get(name)]),
    )
  })

  it('is a valid configuration', () => {
    const pairs = [...example.matchAll(/^([A-Z_]+[0-9]*)=(.*)$/gm)].map(([, name, value]) => [name, value])
    expect(readConfig(Object.fromEntries(pairs)).chains).toHaveLength(1)
  })
})

describe('the tables in docs/configuration.md', () => {
  const rows = [...reference.matchAll(/^\| `([A-Z_]+(?:<chainId>)?)` \| (?:`(.*?)`)? ?\|/gm)]

  it('have every variable once, and no other', () => {
    expect(sorted(rows.map(([, name = '']) => name))).toEqual(sorted(known.keys()))
  })

  it('show the defaults', () => {
    expect(rows.map(([, name, value]) => [name, value])).toEqual(
      rows.map(([, name = '']) => [name, known.get(name)]),
    )
  })
})
