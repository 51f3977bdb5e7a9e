import { BaseError } from 'viem'
import type { ChainConfig } from '../config.js'
import { ServiceError } from '../domain/errors.js'
import type { Address, Hex } from '../domain/hex.js'
import type { Order } from '../domain/order.js'
import type { Bond } from '../domain/solver.js'
import type { QuoteHasher } from '../signing/typed-data.js'
import type { Logger } from '../telemetry/log.js'
import { ChainMistake, introduce } from './introduce.js'
import { createRpcClient } from './rpc-client.js'
import { createSettlement } from './settlement.js'

/** What is known of a chain's head; undefined until the chain has answered once. */
export interface ChainStatus {
  readonly chainId: number
  readonly status: 'ok' | 'down'
  readonly headBlock: number | undefined
  /** How far the head block's time lies behind the clock. */
  readonly lagMs: number | undefined
}

/** One supported chain: its settlement contract, and whether it answers. */
export interface Chain {
  readonly chainId: number
  /**
   * Looks at the chain for the first time, then every poll interval until `close`.
   * @returns once the chain has answered or failed, after `timeoutMs` at the latest
   * @throws ChainMistake when it answers and is not what the configuration says
   */
  start(timeoutMs: number): Promise<void>
  status(): ChainStatus
  /** @throws ServiceError CHAIN_UNAVAILABLE until the contract has been read once */
  quoteHasher(): QuoteHasher
  /** @throws ServiceError CHAIN_UNAVAILABLE */
  readBond(solver: Address): Promise<Bond>
  /** Calls `listener` whenever new blocks have brought an event that changes a solver's bond. */
  onBondEvents(listener: () => void): void
  /** @throws ServiceError CHAIN_UNAVAILABLE */
  readOrder(orderId: Hex): Promise<Order>
  close(): Promise<void>
}

/** Nodes refuse long ranges of logs; beyond this many blocks, reading the bonds themselves is cheaper anyway. */
const MAX_LOG_RANGE = 500

/** Builds a chain. One that is down is served as soon as it is there (decisions.md D11). */
export function createChain(config: ChainConfig, protocolName: string, log: Logger): Chain {
  const { chainId, settlement: address, pollIntervalMs } = config
  const rpc = createRpcClient(config.rpcUrls)
  const settlement = createSettlement(rpc.client, chainId, address)
  let hasher: QuoteHasher | undefined
  let head: { block: number; timestampMs: number } | undefined
  let isUp: boolean | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let bondListener: (() => void) | undefined

  async function look(): Promise<void> {
    const wasUp = isUp
    try {
      hasher ??= await introduce(config, rpc, settlement, protocolName)
      const block = await rpc.client.getBlock({ blockTag: 'latest' })
      await lookForBondEvents(head?.block, Number(block.number))
      head = { block: Number(block.number), timestampMs: Number(block.timestamp) * 1000 }
      isUp = true
      if (wasUp === false) log.info({ chainId }, 'the chain answers again')
    } catch (error) {
      isUp = false
      if (wasUp !== false && !isClosed)
        log.error({ chainId, reason: summary(error) }, 'the chain does not answer')
      throw error
    }
  }

  async function lookForBondEvents(lastSeen: number | undefined, latest: number): Promise<void> {
    if (bondListener === undefined || lastSeen === undefined || latest <= lastSeen) return
    const isFarBehind = latest - lastSeen > MAX_LOG_RANGE
    const fromBlock = BigInt(lastSeen + 1)
    const mayHaveEvents =
      isFarBehind || (await settlement.hasBondEvents(fromBlock, BigInt(latest)).catch(() => true))
    if (mayHaveEvents) bondListener()
  }

  /** Looks again and again; what goes wrong shows in the status. */
  function keepLooking(lastLook: Promise<void>): void {
    void lastLook
      .catch(() => {})
      .finally(() => {
        if (!isClosed) timer = setTimeout(() => keepLooking(look()), pollIntervalMs)
      })
  }

  async function ask<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer
    } catch (error) {
      const cause = new Error(summary(error))
      throw new ServiceError('CHAIN_UNAVAILABLE', `Chain ${chainId} does not answer at the moment.`, {
        cause,
      })
    }
  }

  return {
    chainId,
    async start(timeoutMs) {
      const firstLook = look()
      keepLooking(firstLook)
      await untilTimeout(firstLook, timeoutMs).catch((error) => {
        if (error instanceof ChainMistake) throw error
      })
    },
    status: () => ({
      chainId,
      status: isUp ? 'ok' : 'down',
      headBlock: head?.block,
      lagMs: head && Math.max(0, Date.now() - head.timestampMs),
    }),
    quoteHasher() {
      if (hasher !== undefined) return hasher
      throw new ServiceError('CHAIN_UNAVAILABLE', `Chain ${chainId} has not answered yet.`)
    },
    readBond: (solver) => ask(settlement.readBond(solver)),
    onBondEvents(listener) {
      bondListener = listener
    },
    readOrder: (orderId) => ask(settlement.readOrder(orderId)),
    async close() {
      isClosed = true
      clearTimeout(timer)
      await rpc.close()
    },
  }
}

/** A long error of viem in one line: its own text holds the RPC's URL, in which there may be a key. */
function summary(error: unknown): string {
  if (!(error instanceof BaseError)) return String(error)
  const root = error.walk()
  return root === error ? error.shortMessage : `${error.shortMessage} (${root.message.split('\n')[0]})`
}

async function untilTimeout(promise: Promise<void>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs)
  })
  await Promise.race([promise, timeout]).finally(() => clearTimeout(timer))
}
