import { setImmediate as nextTurn } from 'node:timers/promises'
import type { OrderPosition } from '../../../packages/protocol/src/orders/order.js'
import {
  createTradeTally,
  type PairUse,
  rankByUse,
  type TokenUse,
} from '../../../packages/protocol/src/orders/trades.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { groupBy } from '../../../packages/protocol/src/values/parts.js'
import { DAY_SECONDS } from '../../../packages/protocol/src/values/time.js'
import type { InstanceContext } from '../../cluster/instance.js'
import { createSharedResults } from '../../concurrency/shared-results.js'
import type { ListedToken } from '../../config/token-list.js'

/** The tokens and pairs of chains (docs/decisions.md, D29). Their counts are at most a minute old. */
export type RecentTrades = ReturnType<typeof createRecentTrades>

/** A token of a chain. Without a use, no settled order has it. */
export interface TokenSummary extends Partial<Pick<TokenUse, 'orders24h' | 'users24h' | 'lastUsed'>> {
  readonly address: Address
  /** What the operator's list says; undefined for a token that is not on it. */
  readonly listed: ListedToken | undefined
}

export interface PairSummary extends PairUse {
  /** Whether both tokens are on the lists of their chains. */
  readonly listed: boolean
}

const MAX_CHAINS = 1000
/** Most tokens or pairs of an answer. */
const MAX_LISTED = 500
/**
 * How long a result is shared: the more orders were read, the longer, up to a minute. So a new instance shows its first trades within
 * seconds, and a busy one reads once a minute.
 */
const KEEP_MS = { least: 2000, perOrder: 60, most: 60_000 }
/** Orders that one read of a chain takes at most: the newest. */
const MAX_ORDERS = 20_000
/** Orders that it takes whatever their age, so that a quiet chain still shows what it traded. */
const MIN_ORDERS = 1000
/** Orders of one statement. SQLite reads them in some milliseconds, in which nothing else runs. */
const PAGE_ORDERS = 200

/** Builds the reader. It reads only when somebody asks, each chain at most once a minute, and all callers share the result. */
export function createRecentTrades({ config, instance, clock }: InstanceContext) {
  const { chains } = config
  const { orders } = instance.stores
  const lists = new Map(chains.map(({ chainId, tokenList }) => [chainId, tokenList]))
  const isListed = (chainId: number, token: Address) => lists.get(chainId)?.has(token) ?? false

  async function readTrades(chainId: number) {
    const nowSeconds = Math.floor(clock.now() / 1000)
    const tally = createTradeTally(nowSeconds)
    let after: OrderPosition | undefined
    let read = 0
    while (read < MAX_ORDERS) {
      const page = await orders.list(chainId, { state: 'SETTLED' }, after, PAGE_ORDERS)
      for (const order of page.orders) tally.add(order)
      read += page.orders.length
      after = page.next
      // Orders are sorted by their first event, so that a page may have newer settlements than the one before.
      const isOld = page.orders.every(
        ({ steps }) => (steps.settled?.blockTime ?? 0) <= nowSeconds - DAY_SECONDS,
      )
      if (after === undefined || (isOld && read >= MIN_ORDERS)) break
      await nextTurn()
    }
    const tokens = groupBy(tally.tokens(), (use) => use.chainId)
    await nextTurn()
    const pairs = tally.pairs().map((pair) => {
      const { inputToken, outputToken, destinationChainId } = pair
      return { ...pair, listed: isListed(chainId, inputToken) && isListed(destinationChainId, outputToken) }
    })
    const keepMs = Math.min(KEEP_MS.most, KEEP_MS.least + KEEP_MS.perOrder * read)
    return { keepMs, tokens, pairs: rankByUse(pairs, ({ listed }) => listed, MAX_LISTED) }
  }

  async function rankTokens(chainId: number): Promise<readonly TokenSummary[]> {
    const tokens = new Map<Address, TokenSummary>()
    for (const [address, listed] of lists.get(chainId) ?? []) tokens.set(address, { address, listed })
    // Outputs belong to their destination chain.
    const sources = chains.filter((chain) => [chain.chainId, ...chain.destinationChains].includes(chainId))
    for (const source of sources)
      for (const use of (await tradesOf(source.chainId)).tokens.get(chainId) ?? [])
        tokens.set(use.token, withUse(tokens.get(use.token), use))
    return rankByUse([...tokens.values()], ({ listed }) => listed !== undefined, MAX_LISTED)
  }

  type Trades = Awaited<ReturnType<typeof readTrades>>
  const trades = createSharedResults<Trades>(MAX_CHAINS, clock, ({ keepMs }) => keepMs)
  const tradesOf = (chainId: number) => trades.get(chainId, () => readTrades(chainId))
  // The ranking of a long list is shared too.
  const tokens = createSharedResults<readonly TokenSummary[]>(MAX_CHAINS, clock, () => KEEP_MS.least)

  return {
    /** The listed tokens of a chain and those of settled orders, at most 500. @throws the database's error */
    tokens: (chainId: number) => tokens.get(chainId, () => rankTokens(chainId)),
    /** The pairs of the settled orders of a chain, at most 500. @throws the database's error */
    pairs: async (chainId: number): Promise<readonly PairSummary[]> => (await tradesOf(chainId)).pairs,
  }
}

/** Adds the use of a token in the orders of one chain. A user of two chains counts twice. */
function withUse(known: TokenSummary | undefined, use: TokenUse): TokenSummary {
  return {
    address: use.token,
    listed: known?.listed,
    orders24h: (known?.orders24h ?? 0) + use.orders24h,
    users24h: (known?.users24h ?? 0) + use.users24h,
    lastUsed: Math.max(known?.lastUsed ?? 0, use.lastUsed),
  }
}
