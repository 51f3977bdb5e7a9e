import { signal } from '@preact/signals'
import { isDisplayName } from '../../../../src/domain/values/display-name.js'

/** Who said so, from the least to the most reliable: a link, the instance, or the contract, read through the user's wallet. */
const SOURCES = ['link', 'instance', 'wallet'] as const

/** What the console knows of a token. Symbols are texts from strangers. */
export interface KnownToken {
  readonly address: string
  readonly symbol?: string | undefined
  readonly decimals?: number | undefined
  readonly source: (typeof SOURCES)[number]
}

type Tokens = Readonly<Record<string, KnownToken>>

const STORAGE_KEY = 'tokens'
const MAX_TOKENS = 200

/** The tokens of all chains, by chain id and address. */
export const tokens = signal<Tokens>(stored())

/** @returns undefined for a token that the console has not met */
export function tokenOf(chainId: number | bigint, address: string): KnownToken | undefined {
  return tokens.value[keyOf(chainId, address)]
}

/** The tokens of a chain, the last met first. */
export function tokensOf(chainId: number | bigint): KnownToken[] {
  const own = Object.entries(tokens.value).filter(([key]) => key.startsWith(`${chainId}:`))
  return own.map(([, token]) => token).toReversed()
}

/** Keeps what a source says of a token, unless a more reliable one has spoken. */
export function learnToken(chainId: number | bigint, said: KnownToken): void {
  const key = keyOf(chainId, said.address)
  const known = tokens.peek()[key]
  if (known !== undefined && SOURCES.indexOf(known.source) > SOURCES.indexOf(said.source)) return
  const { address, decimals, source } = said
  const symbol = said.symbol !== undefined && isDisplayName(said.symbol) ? said.symbol : undefined
  const isSame = known?.symbol === symbol && known?.decimals === decimals && known?.source === source
  if (known !== undefined && isSame) return
  tokens.value = withoutExcess({ ...tokens.peek(), [key]: { address, symbol, decimals, source } })
  store(tokens.value)
}

/** Orders of strangers have tokens of which nothing is known: those go first. */
function withoutExcess(all: Tokens): Tokens {
  const keys = Object.keys(all)
  if (keys.length <= MAX_TOKENS) return all
  const dropped = keys.find((key) => all[key]?.decimals === undefined) ?? keys[0]
  return Object.fromEntries(Object.entries(all).filter(([key]) => key !== dropped))
}

/** A token that appears somewhere, of which nothing is known. */
export function meetToken(chainId: number | bigint, address: string | undefined): void {
  if (address !== undefined && tokens.peek()[keyOf(chainId, address)] === undefined)
    learnToken(chainId, { address, source: 'link' })
}

/**
 * Reads a token of a link: `0x…`, or `0x…:18:WETH` with what the link claims.
 * @returns its address; undefined when there is none
 */
export function takeTokenFromLink(chainId: number | bigint, text: string | null): string | undefined {
  const [, address, decimals, symbol] = /^(0x[0-9a-f]{40})(?::(\d{1,3}))?(?::(.+))?$/iu.exec(text ?? '') ?? []
  if (address === undefined) return undefined
  const claimed = decimals === undefined || Number(decimals) > 255 ? undefined : Number(decimals)
  if (claimed !== undefined) learnToken(chainId, { address, decimals: claimed, symbol, source: 'link' })
  else meetToken(chainId, address)
  return address
}

function keyOf(chainId: number | bigint, address: string): string {
  return `${chainId}:${address.toLowerCase()}`
}

function stored(): Tokens {
  try {
    return JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}')
  } catch {
    return {}
  }
}

/** Without storage, tokens are known until the tab is closed. */
function store(all: Tokens): void {
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(all))
  } catch {}
}
