import { LRUCache } from 'lru-cache'
import { decodeAbiParameters, hexToBytes, size, toFunctionSelector, trim } from 'viem'
import { createRpcEndpoint } from '../../../packages/chain/src/rpc-endpoint.js'
import { DECIMALS } from '../../../packages/protocol/src/field-rules.js'
import { simulate } from '../../../packages/protocol/src/node/simulate.js'
import { isTokenSymbol } from '../../../packages/protocol/src/values/display-name.js'
import { type Address, type Hex, toQuantity } from '../../../packages/protocol/src/values/hex.js'
import { DAY_MS } from '../../../packages/protocol/src/values/time.js'
import type { ChainContext } from '../context.js'
import type { EndpointVerifier } from '../contract/verify-endpoint.js'

/** What the contract of an ERC-20 token says of it. */
export interface TokenMetadata {
  /** At most 32 characters (docs/decisions.md, D29); undefined when the token has none that can be shown. */
  readonly symbol: string | undefined
  readonly decimals: number | undefined
}

/** What a read has found, and the error of a view that no node has answered. */
export interface TokenReading extends TokenMetadata {
  readonly failure?: unknown
}

/** Reads symbols and decimals of the tokens of one chain. */
export type TokenReader = ReturnType<typeof createTokenReader>

/** What is known of a token. */
interface Entry {
  symbol?: { readonly value: string | undefined }
  decimals?: { readonly value: number | undefined }
  failures: number
  /** When it may be read again after a failure. */
  retryAt: number
}

/** More than an answer lists, so that a token that leaves it for a while stays known. */
const MAX_KNOWN = 2000
/** Tokens that are read at the same time in the background. The bond token has room beside them. */
const MAX_READING = 2
const MAX_IN_FLIGHT = 12
const TIMEOUT_MS = 1000
const FIRST_RETRY_MS = 60_000
/** A symbol has some hundred bytes. */
const MAX_ANSWER_BYTES = 64 * 1024
/**
 * Gas of one call. It bounds what a hostile token costs: some milliseconds, and an answer of half a megabyte. The views of
 * known tokens need a tenth of it, also behind a proxy.
 */
const VIEW_GAS = 500_000

/**
 * Builds the reader of one chain (docs/decisions.md, D29). Anyone can bring a token into an answer, so its calls go over connections
 * of their own, each alone. A token that is silent or burns gas delays no other read of the chain, and makes no endpoint count as
 * failed for others.
 */
export function createTokenReader(
  { config, clock }: ChainContext,
  readAny: EndpointVerifier['readAny'],
  openEndpoint = createRpcEndpoint,
) {
  const limits = { maxInFlight: MAX_IN_FLIGHT, maxBytes: MAX_ANSWER_BYTES, timeoutMs: TIMEOUT_MS, clock }
  const endpoints = config.rpcUrls.map((url) => openEndpoint(url, limits))
  const entries = new LRUCache<Address, Entry>({ max: MAX_KNOWN })
  let waiting: Address[] = []
  const underWay = new Set<Address>()
  let isClosed = false

  /** The bytes that a view returns; none when the contract reverts, or returns nothing. @throws ChainReadError */
  async function readView(to: Address, name: keyof TokenMetadata): Promise<Hex> {
    const call = { to, data: toFunctionSelector(`${name}()`), gas: toQuantity(VIEW_GAS) }
    const answer = await readAny((verified, index) =>
      simulate((endpoints[index]?.client ?? verified).request, call, name),
    )
    return answer ?? '0x'
  }

  async function read(token: Address): Promise<TokenReading> {
    const entry = entries.get(token) ?? { failures: 0, retryAt: Number.NEGATIVE_INFINITY }
    entries.set(token, entry)
    const views = await Promise.allSettled([
      entry.symbol ?? readView(token, 'symbol').then((answer) => ({ value: parseSymbolAnswer(answer) })),
      entry.decimals ??
        readView(token, 'decimals').then((answer) => ({ value: parseDecimalsAnswer(answer) })),
    ])
    const [symbol, decimals] = views
    if (symbol.status === 'fulfilled') entry.symbol = symbol.value
    if (decimals.status === 'fulfilled') entry.decimals = decimals.value
    const failed = views.find((view) => view.status === 'rejected')
    if (failed !== undefined)
      entry.retryAt = clock.monotonic() + Math.min(FIRST_RETRY_MS * 2 ** entry.failures++, DAY_MS)
    return { ...metadataOf(entry), failure: failed?.reason }
  }

  function isDue(token: Address): boolean {
    const { symbol, decimals, retryAt } = entries.get(token) ?? { retryAt: Number.NEGATIVE_INFINITY }
    const isKnown = symbol !== undefined && decimals !== undefined
    return !isKnown && !underWay.has(token) && retryAt <= clock.monotonic()
  }

  function readWaiting(): void {
    while (underWay.size < MAX_READING && waiting.length > 0 && !isClosed) {
      const token = waiting.shift()
      if (token !== undefined && isDue(token)) void readInBackground(token)
    }
  }

  async function readInBackground(token: Address): Promise<void> {
    underWay.add(token)
    await read(token)
    underWay.delete(token)
    readWaiting()
  }

  return {
    /** Reads a token now. A value that a node has answered, or a revert, is not read again. */
    read,
    /**
     * Has tokens read in the background, a few at a time: those that are not known. They replace the tokens that still wait. A token
     * whose read has failed is read again after a minute, then after twice as long each time, at most a day.
     * @returns what is known of each token now
     */
    describe(tokens: readonly Address[]): readonly TokenMetadata[] {
      waiting = tokens.filter(isDue)
      readWaiting()
      return tokens.map((token) => metadataOf(entries.get(token)))
    },
    close(): void {
      isClosed = true
      for (const { close } of endpoints) close()
    },
  }
}

function metadataOf(entry: Entry | undefined): TokenMetadata {
  return { symbol: entry?.symbol?.value, decimals: entry?.decimals?.value }
}

const WORD_BYTES = 32

/**
 * The symbol in the answer of `symbol()`: a `string`, or the `bytes32` of old tokens, which zeros fill up.
 * @returns undefined when it is neither, no UTF-8, or no symbol that can be shown (docs/decisions.md, D29)
 */
export function parseSymbolAnswer(answer: Hex): string | undefined {
  // As bytes: viem reads a `string` that is no UTF-8 too.
  const bytes =
    size(answer) === WORD_BYTES ? answer : decoded(() => decodeAbiParameters([{ type: 'bytes' }], answer))
  const symbol = bytes && decodeUtf8(trim(hexToBytes(bytes), { dir: 'right' }))
  return symbol !== undefined && isTokenSymbol(symbol) ? symbol : undefined
}

/** The number in the answer of `decimals()`; undefined when it is not valid in ERC-20. */
export function parseDecimalsAnswer(answer: Hex): number | undefined {
  const decimals = decoded(() => decodeAbiParameters([{ type: 'uint256' }], answer))
  return decimals !== undefined && decimals <= DECIMALS.maximum ? Number(decimals) : undefined
}

function decoded<T>(decode: () => readonly [T]): T | undefined {
  try {
    return decode()[0]
  } catch {
    return undefined
  }
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
