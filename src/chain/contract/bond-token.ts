import { type PublicClient, zeroAddress } from 'viem'
import { bondToken as bondTokenView } from '../../../packages/protocol/src/deployed-settlement.js'
import { wordsOf } from '../../../packages/protocol/src/node-words.js'
import { findView } from '../../../packages/protocol/src/read-view.js'
import { createRetry } from '../../concurrency/retry.js'
import type { Address } from '../../domain/values/hex.js'
import type { Logger } from '../../telemetry/log.js'
import { parseDecimalsAnswer, parseSymbolAnswer, readTokenView } from './token-views.js'

/** The ERC-20 token of the solvers' bonds, as its contract describes it. */
export interface BondToken {
  readonly address: Address
  /** A display name (docs/decisions.md, D5); undefined when the token has none that can be shown. */
  readonly symbol: string | undefined
  readonly decimals: number | undefined
}

/** Reads the bond token of one settlement contract in the background. The service also works without it. */
export interface BondTokenReader {
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
    readAny(({ request }) => findView(request, contract, bondTokenView())),
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
