import { dirname, join } from 'node:path'
import { isAddress } from 'viem'
import { DECIMALS, MAX_INTEGER } from '../../packages/protocol/src/field-rules.js'
import {
  isDisplayName,
  isTokenSymbol,
  TOKEN_SYMBOL,
} from '../../packages/protocol/src/values/display-name.js'
import { type Address, parseAddress } from '../../packages/protocol/src/values/hex.js'
import { replaceUnprintable, shorten } from '../../packages/protocol/src/values/text.js'
import type { EnvironmentReader } from './environment.js'
import { AN_IMAGE, type Image, readImage, toImage } from './image.js'
import { readSmallFile } from './small-file.js'

/** A token that the operator has checked (docs/decisions.md, D29). */
export interface ListedToken {
  readonly address: Address
  readonly symbol: string
  /** Undefined when the list has none that can be shown. */
  readonly name?: string | undefined
  readonly decimals: number
  readonly logo: Image | undefined
}

/** The tokens of one chain by address, in the order of the list. */
export type TokenList = ReadonlyMap<Address, ListedToken>

/** Below it, the logos have the names of their images. */
export const LOGOS_PATH = '/logos/'

const MAX_LIST_BYTES = 5_000_000
const MAX_TOKENS = 10_000
/** Limit of the logos of one list, which stay in memory. */
const MAX_LOGOS_BYTES = 16 * 1024 * 1024
/** More odd entries of one list are only counted. */
const MAX_WARNINGS = 10

/**
 * Reads the token list of a chain: a file in the Uniswap token list format. Entries of other chains are left out, and odd ones with a
 * warning: public lists have some. Only a file that is no such list stops the start.
 */
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
  const { tokens, oddities } = checkEntries(entries, chainId, dirname(path))
  const warn = (message: string) => env.warn(variable, `is ${path}, in which ${message}`)
  for (const oddity of oddities.slice(0, MAX_WARNINGS)) warn(oddity)
  if (oddities.length > MAX_WARNINGS) warn(`${oddities.length - MAX_WARNINGS} more are left out`)
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
  return tokens
}

function checkEntries(entries: readonly unknown[], chainId: number, folder: string) {
  const tokens = new Map<Address, ListedToken>()
  const oddities: string[] = []
  let logoBytes = 0
  for (const [index, entry] of entries.entries()) {
    const id = isRecord(entry) ? entry.chainId : undefined
    const place = `tokens[${index}]`
    if (!isInteger(id, MAX_INTEGER))
      oddities.push(`${place}.chainId is ${shown(id)}: it must be a chain id. The entry is left out`)
    if (!isRecord(entry) || id !== chainId) continue
    const checked = checkEntry(entry, tokens)
    if (typeof checked === 'string') {
      oddities.push(`${place}.${checked}. The entry is left out`)
      continue
    }
    const logo = readLogo(entry.logoURI, folder, MAX_LOGOS_BYTES - logoBytes)
    if (typeof logo === 'string') oddities.push(`${place}.logoURI ${logo}. The logo is left out`)
    else logoBytes += logo?.content.length ?? 0
    tokens.set(checked.address, { ...checked, logo: typeof logo === 'string' ? undefined : logo })
  }
  return { tokens, oddities }
}

/** @returns the token without its logo, or the problem of a field, beginning with its name */
function checkEntry(
  { address: text, symbol, decimals, name }: Record<string, unknown>,
  others: ReadonlyMap<Address, ListedToken>,
): Omit<ListedToken, 'logo'> | string {
  const address = parseAddress(text)
  if (address === undefined || !isChecksumValid(String(text)))
    return `address is ${shown(text)}: it must be an address with a right checksum (EIP-55)`
  if (others.has(address)) return `address is ${address}, which the list has already`
  if (others.size >= MAX_TOKENS) return `address is ${address}, after ${MAX_TOKENS} tokens of the chain`
  const token = ` (token ${address})`
  if (typeof symbol !== 'string' || !isTokenSymbol(symbol))
    return `symbol is ${shown(symbol)}: it ${TOKEN_SYMBOL.mustBe}${token}`
  if (!isInteger(decimals, DECIMALS.maximum))
    return `decimals is ${shown(decimals)}: it ${DECIMALS.mustBe}${token}`
  const shownName = typeof name === 'string' && isDisplayName(name) ? name : undefined
  return { address, symbol, decimals, name: shownName }
}

/**
 * Reads a logo of a list: a `data:` URI, or the name of a file beside the list. Nothing is fetched from other places.
 * @param bytesLeft how many bytes it may have
 * @returns undefined without a logo that can be read here; the problem of one, to follow the name of the field
 */
function readLogo(uri: unknown, folder: string, bytesLeft: number): Image | undefined | string {
  const logo = findLogo(uri, folder)
  if (typeof logo === 'string' || (logo?.content.length ?? 0) <= bytesLeft) return logo
  return `exceeds the ${MAX_LOGOS_BYTES} bytes that all logos of a list may have`
}

function findLogo(uri: unknown, folder: string): Image | undefined | string {
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

/** A value of the list on one line that a terminal shows as it is. An object may be deeper than can be written. */
function shown(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value instanceof Object) return Array.isArray(value) ? 'a list' : 'an object'
  return shorten(replaceUnprintable(JSON.stringify(value)), MAX_SHOWN)
}
