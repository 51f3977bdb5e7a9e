import { dirname, join } from 'node:path'
import { isAddress } from 'viem'
import { DECIMALS, MAX_INTEGER } from '../../packages/protocol/src/field-rules.js'
import { isTokenSymbol, TOKEN_SYMBOL } from '../../packages/protocol/src/values/display-name.js'
import { type Address, parseAddress } from '../../packages/protocol/src/values/hex.js'
import { replaceUnprintable, shorten } from '../../packages/protocol/src/values/text.js'
import type { EnvironmentReader } from './environment.js'
import { AN_IMAGE, type Image, readImage, toImage } from './image.js'
import { readSmallFile } from './small-file.js'

/** A token that the operator has checked (docs/decisions.md, D29). */
export interface ListedToken {
  readonly address: Address
  readonly symbol: string
  readonly decimals: number
  readonly logo: Image | undefined
}

/** The tokens of one chain by address, in the order of the list. */
export type TokenList = ReadonlyMap<Address, ListedToken>

/** Below it, the logos have the names of their images. */
export const LOGOS_PATH = '/logos/'

const MAX_LIST_BYTES = 5_000_000
const MAX_ENTRIES = 10_000
/** Limit of the logos of one list, which stay in memory. */
const MAX_LOGOS_BYTES = 16 * 1024 * 1024
/** More mistakes of one list are only counted. */
const MAX_MISTAKES = 10

/** Reads the token list of a chain: a file in the Uniswap token list format. Entries of other chains are left out. */
export function readTokenList(env: EnvironmentReader, chainId: number): TokenList {
  const variable = `TOKEN_LIST_${chainId}`
  const path = env.optional(variable)
  if (path === undefined) return new Map()
  const refuse = (message: string) => env.refuse(variable, `is ${path}, ${message}`)
  const file = readSmallFile(path, MAX_LIST_BYTES)
  if (typeof file === 'string') {
    refuse(`which ${file}`)
    return new Map()
  }
  const entries = parseEntries(file)
  if (typeof entries === 'string') {
    refuse(`which ${entries}`)
    return new Map()
  }
  const { tokens, mistakes } = checkEntries(entries, chainId, dirname(path))
  for (const mistake of mistakes.slice(0, MAX_MISTAKES)) refuse(`in which ${mistake}`)
  if (mistakes.length > MAX_MISTAKES) refuse(`in which ${mistakes.length - MAX_MISTAKES} more are wrong`)
  return tokens
}

function parseEntries(file: Buffer): readonly unknown[] | string {
  let list: unknown
  try {
    // Without a byte order mark.
    list = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(file))
  } catch (error) {
    return `is not JSON: ${(error as Error).message}`
  }
  const tokens = isRecord(list) ? list.tokens : undefined
  if (!Array.isArray(tokens)) return 'has no list "tokens", as the Uniswap token list format has it'
  if (tokens.length > MAX_ENTRIES) return `has ${tokens.length} tokens: it must have at most ${MAX_ENTRIES}`
  return tokens
}

function checkEntries(entries: readonly unknown[], chainId: number, folder: string) {
  const tokens = new Map<Address, ListedToken>()
  const mistakes: string[] = []
  for (const [index, entry] of entries.entries()) {
    const place = `tokens[${index}]`
    const id = isRecord(entry) ? entry.chainId : undefined
    if (!isInteger(id, MAX_INTEGER)) mistakes.push(`${place}.chainId is ${shown(id)}: it must be a chain id`)
    if (!isRecord(entry) || id !== chainId) continue
    const address = parseAddress(entry.address)
    const isKnown = address !== undefined && tokens.has(address)
    if (address === undefined || !isChecksumValid(String(entry.address)))
      mistakes.push(
        `${place}.address is ${shown(entry.address)}: it must be an address with a right checksum (EIP-55)`,
      )
    else if (isKnown) mistakes.push(`${place}.address is ${address}, which the list has twice`)
    if (address === undefined || isKnown) continue
    const { token, problems } = checkEntry(address, entry, folder)
    mistakes.push(...problems.map((problem) => `${place}.${problem} (token ${address})`))
    tokens.set(address, token)
  }
  const logoBytes = [...tokens.values()].reduce((sum, { logo }) => sum + (logo?.content.length ?? 0), 0)
  if (logoBytes > MAX_LOGOS_BYTES)
    mistakes.push(`the logos have ${logoBytes} bytes: they must have at most ${MAX_LOGOS_BYTES}`)
  return { tokens, mistakes }
}

/** @returns the token, and the problems of its fields, each beginning with the name of the field */
function checkEntry(
  address: Address,
  { symbol, decimals, logoURI }: Record<string, unknown>,
  folder: string,
) {
  const problems: string[] = []
  if (typeof symbol !== 'string' || !isTokenSymbol(symbol))
    problems.push(`symbol is ${shown(symbol)}: it ${TOKEN_SYMBOL.mustBe}`)
  if (!isInteger(decimals, DECIMALS.maximum))
    problems.push(`decimals is ${shown(decimals)}: it ${DECIMALS.mustBe}`)
  const read = readLogo(logoURI, folder)
  const logo = typeof read === 'string' ? undefined : read
  if (typeof read === 'string') problems.push(`logoURI ${read}`)
  const token: ListedToken = { address, symbol: String(symbol), decimals: Number(decimals), logo }
  return { token, problems }
}

/**
 * Reads a logo of a list: a `data:` URI, or the name of a file beside the list. Nothing is fetched from other places.
 * @returns undefined without a logo that can be read here; the problem of one, to follow the name of the field
 */
function readLogo(uri: unknown, folder: string): Image | undefined | string {
  if (uri === undefined || uri === '') return undefined
  if (typeof uri !== 'string') return `is ${shown(uri)}: it must be a text`
  if (/^data:/i.test(uri)) {
    const bytes = bytesOfData(uri)
    return explained(typeof bytes === 'string' ? bytes : toImage(bytes))
  }
  if (/^[a-z][a-z0-9+.-]*:/i.test(uri)) return undefined
  if (/[/\\]/.test(uri) || uri.startsWith('.'))
    return `is ${shown(uri)}: it must be the name of a file beside the list`
  return explained(readImage(join(folder, uri)))
}

function explained(image: Image | string): Image | string {
  return typeof image === 'string' ? `${image}. A logo must be ${AN_IMAGE}` : image
}

/** The bytes of a `data:` URI (RFC 2397). */
function bytesOfData(uri: string): Buffer | string {
  const comma = uri.indexOf(',')
  if (comma < 0) return 'is a data: URI without a comma'
  const data = uri.slice(comma + 1)
  if (/;\s*base64$/i.test(uri.slice(0, comma))) return Buffer.from(data, 'base64')
  try {
    return Buffer.from(decodeURIComponent(data))
  } catch {
    return 'is a data: URI with malformed escapes'
  }
}

/** Whether an address has the checksum of EIP-55. One with letters of one case has none. */
export function isChecksumValid(text: string): boolean {
  const digits = text.slice(2)
  const isOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  return isOneCase || isAddress(text)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isInteger(value: unknown, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max
}

const MAX_SHOWN = 60

/** A value of the list as JSON, on one line that a terminal shows as it is. */
function shown(value: unknown): string {
  return value === undefined ? 'missing' : shorten(replaceUnprintable(JSON.stringify(value)), MAX_SHOWN)
}
