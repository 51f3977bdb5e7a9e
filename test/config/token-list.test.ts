import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readChains } from '../../src/config/chains.js'
import { type ConfigError, EnvironmentReader } from '../../src/config/environment.js'

const WETH = '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h1v1z"/></svg>'
const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100)])

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quote-aggregator-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const TOKEN = { chainId: 1, address: WETH, symbol: 'WETH', decimals: 18 }
const entry = (fields: object = {}) => ({ ...TOKEN, ...fields })

/** The tokens that the configuration reads from a file, and its warnings. @throws ConfigError */
function read(content: unknown) {
  const path = join(folder, 'tokens.json')
  writeFileSync(
    path,
    typeof content === 'string' || content instanceof Buffer ? content : JSON.stringify(content),
  )
  return readPath(path)
}

function readPath(path: string, settings: Record<string, string> = {}) {
  const env = new EnvironmentReader(
    {
      SUPPORTED_CHAINS: '1',
      RPC_URL_1: 'http://127.0.0.1:8545',
      SERVICE_ADDRESS_1: ADDRESS,
      TOKEN_LIST_1: path,
      ...settings,
    },
    {},
  )
  const [chain] = readChains(env)
  env.assertValid()
  return { tokens: [...(chain?.tokenList.values() ?? [])], warnings: env.warnings }
}

/** The warnings of a list, without the path. */
const warningsOf = (content: unknown) => withoutPath(read(content).warnings)

/** The mistakes of a list, without the path. */
function mistakesOf(content: unknown): string[] {
  try {
    read(content)
    return []
  } catch (error) {
    return withoutPath((error as ConfigError).issues)
  }
}

const withoutPath = (issues: readonly { variable: string; message: string }[]) =>
  issues.map(({ variable, message }) => `${variable} ${message}`.replace(/is \S+tokens\.json, /, ''))

describe('a token list', () => {
  test('has the tokens of its chain, in its order, and leaves out those of others', () => {
    const others = [{ chainId: 10, address: 'x', symbol: 5 }, { chainId: 8453 }]
    const list = { name: 'Ours', tokens: [entry(), ...others, entry({ address: USDC.toLowerCase() })] }
    expect(read(list).tokens).toEqual([
      { address: WETH.toLowerCase(), symbol: 'WETH', decimals: 18, logo: undefined },
      { address: USDC.toLowerCase(), symbol: 'WETH', decimals: 18, logo: undefined },
    ])
  })

  test('may begin with a byte order mark', () => {
    expect(read(`\ufeff${JSON.stringify({ tokens: [entry()] })}`).tokens).toHaveLength(1)
  })

  test.each([
    ['no JSON', '{', /^TOKEN_LIST_1 which is not JSON: /],
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]), /^TOKEN_LIST_1 which is not JSON: /],
    ['a list of nothing', '[]', /has no list "tokens"/],
    ['tokens by address', { tokens: { [WETH]: entry() } }, /has no list "tokens"/],
    ['more than 5 MB', `{"tokens":[],"x":"${'x'.repeat(5_000_000)}"}`, /which has 50000\d+ bytes/],
  ])('is refused as a whole for %s', (_, content, message) => {
    expect(mistakesOf(content)).toEqual([expect.stringMatching(message)])
  })

  test('leaves out an entry with a value that is deeper than JSON can be written', () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const text = JSON.stringify({ tokens: [entry({ address: 'deep' })] }).replace('"deep"', deep)
    expect(warningsOf(text)).toEqual([expect.stringContaining('tokens[0].address is a list: it must be')])
  })

  test.each<[string, object, string]>([
    [
      'a wrong checksum',
      { address: WETH.replace('C02a', 'c02a') },
      'tokens[0].address is "0xc02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2": it must be an address with a right checksum (EIP-55)',
    ],
    [
      'no address',
      { address: 'WETH' },
      'tokens[0].address is "WETH": it must be an address with a right checksum (EIP-55)',
    ],
    [
      'a direction override',
      { symbol: 'USD\u202eC' },
      'tokens[0].symbol is "USD?C": it must be 1 to 32 visible characters',
    ],
    [
      'a line feed',
      { symbol: 'US\nDC' },
      'tokens[0].symbol is "US\\nDC": it must be 1 to 32 visible characters',
    ],
    ['a symbol of 33 characters', { symbol: 'N'.repeat(33) }, 'it must be 1 to 32 visible characters'],
    ['a symbol that is no text', { symbol: 5 }, 'tokens[0].symbol is 5: '],
    ['no symbol', { symbol: undefined }, 'tokens[0].symbol is missing: '],
    ['256 decimals', { decimals: 256 }, 'tokens[0].decimals is 256: it must be an integer of 0 to 255'],
    ['decimals as text', { decimals: '18' }, 'tokens[0].decimals is "18": it must be an integer of 0 to 255'],
    ['a fraction of decimals', { decimals: 1.5 }, 'tokens[0].decimals is 1.5: '],
    ['no chain', { chainId: '1' }, 'tokens[0].chainId is "1": it must be a chain id'],
  ])('leaves out an entry for %s, and warns', (_, fields, message) => {
    const { tokens, warnings } = read({ tokens: [entry(fields), entry({ address: USDC })] })
    expect(tokens.map(({ address }) => address)).toEqual([USDC.toLowerCase()])
    const [first = '', ...others] = withoutPath(warnings)
    expect(first).toMatch(/^TOKEN_LIST_1 in which tokens\[0\]\..*\. The entry is left out$/)
    expect(first).toContain(message)
    expect(others).toEqual([])
  })

  test('has a token once that comes twice, as it came first', () => {
    const { tokens, warnings } = read({
      tokens: [entry(), entry({ address: WETH.toLowerCase(), decimals: 6 })],
    })
    expect(tokens).toMatchObject([{ decimals: 18 }])
    expect(withoutPath(warnings)).toEqual([
      `TOKEN_LIST_1 in which tokens[1].address is ${WETH.toLowerCase()}, which the list has already. The entry is left out`,
    ])
  })

  test('takes the entries of other chains as they are, whatever they have', () => {
    expect(warningsOf({ tokens: [{ chainId: '56' }, { chainId: 56 }, 'x', entry()] })).toEqual([
      expect.stringContaining('tokens[0].chainId is "56"'),
      expect.stringContaining('tokens[2].chainId is missing'),
    ])
  })

  test('has ten warnings, and the number of the others', () => {
    const warnings = warningsOf({ tokens: Array(100).fill(entry({ address: '' })) })
    expect(warnings).toHaveLength(11)
    expect(warnings.at(-1)).toBe('TOKEN_LIST_1 in which 90 more are left out')
  })

  test('has 10,000 tokens of its chain at most', () => {
    const tokens = Array.from({ length: 10_001 }, (_, index) => ({
      ...entry(),
      address: `0x${index.toString(16).padStart(40, '0')}`,
    }))
    const read10k = read({ tokens })
    expect([read10k.tokens.length, read10k.warnings.length]).toEqual([10_000, 1])
  })

  test('is refused when there is no such file, or it is a folder', () => {
    expect(() => readPath(join(folder, 'nothing.json'))).toThrow(/which cannot be read: ENOENT/)
    expect(() => readPath(folder)).toThrow(/which is no file/)
  })
})

describe('a logo of a token list', () => {
  const logoOf = (logoURI: unknown) => read({ tokens: [entry({ logoURI })] }).tokens[0]?.logo

  test.each([
    ['data: with escapes', `data:image/svg+xml,${encodeURIComponent(SVG)}`, SVG, 'svg'],
    ['data: in base64', `data:image/svg+xml;base64,${Buffer.from(SVG).toString('base64')}`, SVG, 'svg'],
    ['a PNG, whatever its URI says', `data:image/jpeg;base64,${PNG.toString('base64')}`, PNG, 'png'],
  ])('is read from %s', (_, uri, content, extension) => {
    const logo = logoOf(uri)
    expect(logo?.name).toMatch(new RegExp(`^[0-9a-f]{16}\\.${extension}$`))
    expect(logo?.content).toEqual(Buffer.from(content))
  })

  test('is read from a file beside the list', () => {
    writeFileSync(join(folder, 'weth.svg'), `<?xml version="1.0"?>\n<!-- a logo -->\n${SVG}`)
    expect(logoOf('weth.svg')?.type).toBe('image/svg+xml; charset=utf-8')
  })

  test.each([
    undefined,
    '',
    'https://logos.example/weth.png',
    'http://127.0.0.1/weth.png',
    'ipfs://Qm/weth.png',
  ])('is absent, and nothing is fetched, for %s', (uri) => {
    expect(logoOf(uri)).toBeUndefined()
  })

  test.each([
    ['a path', '../weth.svg', 'must be the name of a file beside the list'],
    ['an absolute path', '/etc/passwd', 'must be the name of a file beside the list'],
    ['a path of another system', '..\\weth.svg', 'must be the name of a file beside the list'],
    ['a file that does not exist', 'nothing.svg', 'cannot be read: ENOENT'],
    ['a list', 'tokens.json', 'is neither a PNG nor an SVG'],
    ['HTML', 'data:text/html,<html><svg></svg>', 'is neither a PNG nor an SVG'],
    ['65 KB', `data:image/svg+xml,${SVG}${'x'.repeat(65_536)}`, 'has 65'],
    ['a number', 5, 'must be a text'],
    ['malformed escapes', 'data:image/svg+xml,%', 'malformed escapes'],
  ])('is left out for %s, and its token is not', (_, uri, message) => {
    const { tokens, warnings } = read({ tokens: [entry({ logoURI: uri })] })
    expect(tokens).toMatchObject([{ symbol: 'WETH', logo: undefined }])
    const [first] = withoutPath(warnings)
    expect(first).toContain('tokens[0].logoURI ')
    expect(first).toContain(message)
  })

  test.each([
    '<script>alert(1)</script>',
    '<SCRIPT xlink:href="data:,alert(1)"/>',
    '<svg:script xmlns:svg="http://www.w3.org/2000/svg"/>',
    '<path onload="alert(1)"/>',
    '<path\nonclick = "alert(1)"/>',
    '<path d="M0"onload="alert(1)"/>',
    '<foreignObject><iframe src="https://evil.example"/></foreignObject>',
    '<image href="https://evil.example/track.png"/>',
    '<use xlink:href="other.svg#a"/>',
    '<a href="javascript:alert(1)"/>',
    '<a href="&#106;avascript:alert(1)"/>',
    '<animate attributeName="href" values="javascript:alert(1)"/>',
    '<set attributeName="onload" to="alert(1)"/>',
    '<style>@import "https://evil.example/a.css"</style>',
    '<style>path{fill:url(https://evil.example/a)}</style>',
    '<style>path{fill:\\75rl(https://evil.example/a)}</style>',
    '<path style="fill:url( \'https://evil.example/a\' )"/>',
  ])('is left out when it is an SVG with %s', (part) => {
    const svg = SVG.replace('<path', `${part}<path`)
    expect(warningsOf({ tokens: [entry({ logoURI: `data:,${encodeURIComponent(svg)}` })] })).toEqual([
      expect.stringContaining('is an SVG with '),
    ])
  })

  test.each(['<!DOCTYPE svg [<!ENTITY a "b">]>', '<?xml-stylesheet href="a.css"?>'])(
    'is left out when it begins with %s',
    (start) => {
      expect(
        warningsOf({ tokens: [entry({ logoURI: `data:,${encodeURIComponent(start + SVG)}` })] }),
      ).toEqual([expect.stringContaining('is an SVG with ')])
    },
  )

  test('may have gradients, styles and parts that it uses again', () => {
    const parts = `<style>.a{fill:url(#g)}</style><linearGradient id="g"/><path class="a" style="fill:url('#g')"/><use href="#g"/><image href="data:image/png;base64,AAAA"/>`
    expect(logoOf(`data:,${encodeURIComponent(SVG.replace('<path', `${parts}<path`))}`)).toBeDefined()
  })
})
