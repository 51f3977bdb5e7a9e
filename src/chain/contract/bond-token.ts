import { type PublicClient, toFunctionSelector, zeroAddress } from 'viem'
import { wordsOf } from '../../../packages/protocol/src/node-words.js'
import { findView, simulate } from '../../../packages/protocol/src/read-view.js'
import { settlementOf } from '../../../packages/protocol/src/settlement-of-chain.js'
import { createRetry } from '../../concurrency/retry.js'
import { DECIMALS } from '../../domain/field-rules.js'
import { isDisplayName } from '../../domain/values/display-name.js'
import { type Address, type Hex, toQuantity } from '../../domain/values/hex.js'
import type { Logger } from '../../telemetry/log.js'

/** The ERC-20 token of the solvers' bonds, as its contract describes it. */
export interface BondToken {
  readonly address: Address
  /** A display name (docs/decisions.md, D5); undefined when the token has none that can be shown. */
  readonly symbol: string | undefined
  readonly decimals: number | undefined
}

/** Reads the bond token of one settlement contract in the background. The service also works without it. */
interface BondTokenReader {
  /** The same object until more of the token is known. Undefined before, and when the contract names no token. */
  bondToken(): BondToken | undefined
  /** Begins to read. A value that a node has answered is not read again. Call it once. */
  start(): void
  close(): Promise<void>
}

interface BondTokenReaderOptions {
  readonly chainId: number
  readonly settlement: Address
  /** Reads from an endpoint of the chain. */
  readonly readAny: <T>(read: (client: PublicClient) => Promise<T>) => Promise<T>
  readonly log: Logger
}

/** So that no call of the chain's start is in one JSON-RPC batch with these calls, and waits for them. */
const START_DELAY_MS = 100
/** A token that uses up all gas looks like a node that fails. So the delay grows, from one second to ten minutes. */
const RETRY_MS = 1000
const MAX_RETRY_MS = 600_000

/** Builds the reader of one chain (docs/decisions.md, D17). */
export function createBondTokenReader(options: BondTokenReaderOptions): BondTokenReader {
  const { chainId, settlement, readAny, log } = options
  let bondToken: BondToken | undefined
  let timer: NodeJS.Timeout | undefined
  const addressOf = keepAnswer((contract) =>
    readAny(({ request }) => findView(request, contract, settlementOf(chainId).bondToken())),
  )
  const viewOf = (token: Address, name: 'symbol' | 'decimals') =>
    readAny((client) => readTokenView(client, token, name))
  const symbolOf = keepAnswer((token) => viewOf(token, 'symbol').then(parseSymbolAnswer))
  const decimalsOf = keepAnswer((token) => viewOf(token, 'decimals').then(parseDecimalsAnswer))

  const reading = createRetry({
    delayMs: RETRY_MS,
    maxDelayMs: MAX_RETRY_MS,
    async work() {
      const address = await addressOf(settlement)
      if (address === undefined || address === zeroAddress) return
      const [symbol, decimals] = await Promise.allSettled([symbolOf(address), decimalsOf(address)])
      bondToken = { address, symbol: answerOf(symbol), decimals: answerOf(decimals) }
      for (const result of [symbol, decimals]) if (result.status === 'rejected') throw result.reason
    },
    onFailure: (error) =>
      log.warn({ chainId, reason: wordsOf(error) }, 'the bond token cannot be read yet, or only in part'),
  })

  return {
    bondToken: () => bondToken,
    start() {
      timer = setTimeout(reading.run, START_DELAY_MS)
    },
    close() {
      clearTimeout(timer)
      return reading.close()
    },
  }
}

/** Keeps the first answer of a read. A failed read is repeated by the next call. */
function keepAnswer<T>(read: (contract: Address) => Promise<T>): (contract: Address) => Promise<T> {
  let answer: Promise<T> | undefined
  return (contract) => {
    answer ??= read(contract).catch((error) => {
      answer = undefined
      throw error
    })
    return answer
  }
}

function answerOf<T>(result: PromiseSettledResult<T>): T | undefined {
  return result.status === 'fulfilled' ? result.value : undefined
}

/**
 * Gas of one call. It bounds what a hostile token costs: some milliseconds, and an answer of half a megabyte. The views of
 * known tokens need a tenth of it, also behind a proxy.
 */
const VIEW_GAS = 500_000

const WORD = 32
/** Offset and length come before the bytes of a `string`. */
const STRING_START = 2 * WORD
/** A display name is shorter, also when each character has four bytes. */
const MAX_SYMBOL_BYTES = 256

/** The bytes that a view of a token returns; none when the contract reverts, or returns nothing. @throws ChainReadError */
async function readTokenView(
  { request }: Pick<PublicClient, 'request'>,
  to: Address,
  name: 'symbol' | 'decimals',
): Promise<Hex> {
  const call = { to, data: toFunctionSelector(`${name}()`), gas: toQuantity(VIEW_GAS) }
  return (await simulate(request, call, name)) ?? '0x'
}

/**
 * The symbol in the answer of `symbol()`: a `string`, or the `bytes32` of old tokens, which zeros fill up.
 * @returns undefined when it is neither, no UTF-8, or no display name (docs/decisions.md, D5)
 */
export function parseSymbolAnswer(answer: Hex): string | undefined {
  const bytes = Buffer.from(answer.slice(2, 2 + 2 * (STRING_START + MAX_SYMBOL_BYTES)), 'hex')
  const text = bytes.length === WORD ? withoutEndingZeros(bytes) : stringIn(bytes)
  const symbol = text && decodeUtf8(text)
  return symbol !== undefined && isDisplayName(symbol) ? symbol : undefined
}

/** The number in the answer of `decimals()`; undefined when it is not valid in ERC-20. */
export function parseDecimalsAnswer(answer: Hex): number | undefined {
  const decimals = integerAt(Buffer.from(answer.slice(2, 2 + 2 * WORD), 'hex'), 0)
  return decimals <= DECIMALS.maximum ? decimals : undefined
}

/** The bytes of an ABI-encoded `string`; undefined when it is longer than any symbol or incomplete. */
function stringIn(bytes: Buffer): Buffer | undefined {
  const end = STRING_START + integerAt(bytes, WORD)
  return integerAt(bytes, 0) === WORD && end <= bytes.length ? bytes.subarray(STRING_START, end) : undefined
}

/** The integer in the word at a position; infinity when it is incomplete or large. */
function integerAt(bytes: Buffer, start: number): number {
  const word = bytes.subarray(start, start + WORD)
  const isSmall = word.length === WORD && word.subarray(0, -4).every((byte) => byte === 0)
  return isSmall ? word.readUInt32BE(WORD - 4) : Number.POSITIVE_INFINITY
}

function withoutEndingZeros(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.findLastIndex((byte) => byte !== 0) + 1)
}

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
