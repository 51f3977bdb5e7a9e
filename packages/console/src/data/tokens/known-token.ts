import { isDisplayName } from '../../../../protocol/src/values/display-name.js'

/** Who said so, from the least to the most reliable: a link, the instance, its operator's list, or the contract through the user's wallet. */
const SOURCES = ['link', 'instance', 'list', 'wallet'] as const

/** What the console knows of a token. Symbols are texts from strangers, unless the token is listed. */
export interface KnownToken {
  readonly address: string
  readonly symbol?: string | undefined
  /** Its name in the operator's list. */
  readonly name?: string | undefined
  readonly decimals?: number | undefined
  /** URL of its logo. */
  readonly logo?: string | undefined
  /** Whether it is on the operator's list, which names it. */
  readonly isListed?: boolean
  readonly source: (typeof SOURCES)[number]
}

/**
 * Whether the decimals of a token may decide what a typed amount means: the operator's list or the user's own wallet has said them
 * (docs/decisions.md, D29).
 */
export function isTrusted(token: KnownToken | undefined): boolean {
  return token?.isListed === true || token?.source === 'wallet'
}

/** What a reader must know of a symbol; undefined for that of a listed token. */
export function markOf({ isListed, source }: KnownToken): string | undefined {
  if (isListed) return undefined
  return source === 'link' ? 'from this link' : 'unlisted'
}

/**
 * What is known of a token after a source has spoken. The more reliable source decides, whoever speaks first. But the list names
 * its tokens, also when a wallet has read the decimals from the contract. A symbol that may not be shown is none.
 */
export function merged(known: KnownToken | undefined, spoken: KnownToken): KnownToken {
  const said = isDisplayName(spoken.symbol ?? '') ? spoken : { ...spoken, symbol: undefined }
  if (known === undefined) return said
  const isWeaker = SOURCES.indexOf(said.source) < SOURCES.indexOf(known.source)
  const reliable = isWeaker ? known : said
  const listed = [said, known].find(({ isListed }) => isListed)
  if (listed === undefined) return reliable
  const { symbol, name, logo } = listed
  return { ...reliable, symbol, name, logo, decimals: reliable.decimals ?? listed.decimals, isListed: true }
}
