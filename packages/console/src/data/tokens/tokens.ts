import { effect, type ReadonlySignal, signal } from '@preact/signals'
import { BASE_URL, chainService } from '../api.js'
import { onEvent } from '../events.js'
import { retryPause } from '../request-times.js'
import { type KnownToken, merged } from './known-token.js'

/** Between two lists of tokens that events cause. */
const NAMES_PAUSE_MS = 10_000

type Tokens = Readonly<Record<string, KnownToken>>

/** The tokens of all chains, by chain id and address. None is stored: what a link says is forgotten with the tab. */
export const tokens = signal<Tokens>({})

/** The chain whose names of tokens were read last. */
export const chainIdOfNames = signal<bigint | undefined>(undefined)

/** @returns undefined for a token that the console has not met */
export function tokenOf(chainId: number | bigint, address: string): KnownToken | undefined {
  return tokens.value[keyOf(chainId, address)]
}

/** The tokens of a chain that have a name, listed ones first. */
export function tokensOf(chainId: number | bigint): KnownToken[] {
  const own = Object.entries(tokens.value).filter(([key]) => key.startsWith(`${chainId}:`))
  return own
    .map(([, token]) => token)
    .toSorted((a, b) => Number(b.isListed === true) - Number(a.isListed === true))
}

/** Whether another listed token of the chain has the same symbol. */
export function isAmbiguous(chainId: number | bigint, { address, symbol }: KnownToken): boolean {
  return tokensOf(chainId).some(
    (other) =>
      other.isListed && other.address !== address && other.symbol?.toLowerCase() === symbol?.toLowerCase(),
  )
}

/** Keeps what a source says of a token, unless a more reliable one has spoken. */
export function learnToken(chainId: number | bigint, said: KnownToken): void {
  tokens.value = { ...tokens.peek(), ...known(chainId, [said]) }
}

/** What is known of tokens after a source has spoken of them. */
function known(chainId: number | bigint, all: readonly KnownToken[]): Tokens {
  const entries = all.map((said) => {
    const key = keyOf(chainId, said.address)
    return [key, merged(tokens.peek()[key], said)] as const
  })
  return Object.fromEntries(entries)
}

/**
 * Reads a token of a link: `0x…`, or `0x…:18:WETH`. Its symbol is a claim. Its decimals are not used.
 * @returns its address; undefined when there is none
 */
export function takeTokenFromLink(chainId: number | bigint, text: string | null): string | undefined {
  const [, address, symbol] = /^(0x[0-9a-f]{40})(?::\d{1,3})?(?::(.+))?$/iu.exec(text ?? '') ?? []
  if (address !== undefined && symbol !== undefined) learnToken(chainId, { address, symbol, source: 'link' })
  return address
}

/** Reads the names of the tokens of the page's chain, again when the chain changes. */
export function followTokens(chainId: ReadonlySignal<bigint | undefined>): void {
  effect(() => {
    const wanted = chainId.value
    if (wanted === undefined) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let readAt = 0
    const read = async (failures: number) => {
      try {
        const answer = await chainService.listTokens({ chainId: wanted })
        const named = known(
          wanted,
          answer.tokens.map(({ address, symbol, name, decimals, listed, logo }) => ({
            address,
            symbol,
            name,
            decimals,
            logo: logoUrl(logo),
            isListed: listed,
            source: listed ? 'list' : 'instance',
          })),
        )
        // In the order of the list, also those that something else has named before.
        tokens.value = { ...named, ...tokens.peek(), ...named }
        chainIdOfNames.value = wanted
        readAt = Date.now()
      } catch {
        timer = setTimeout(() => void read(failures + 1), retryPause(failures))
      }
    }
    void read(1)
    // The instance reads tokens that an order has brought: their names come a little later.
    const stop = onEvent(({ chainId, inputToken, outputToken }) => {
      const isNew = [inputToken, outputToken].some(
        (each) => each && tokenOf(chainId, each)?.symbol === undefined,
      )
      if (isNew && Date.now() - readAt > NAMES_PAUSE_MS) void read(1)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  })
}

/** Logos come from the instance itself, also below the prefix of a proxy. */
function logoUrl(path: string | undefined): string | undefined {
  return path?.startsWith('/logos/') ? new URL(path.slice(1), BASE_URL).href : undefined
}

function keyOf(chainId: number | bigint, address: string): string {
  return `${chainId}:${address.toLowerCase()}`
}
