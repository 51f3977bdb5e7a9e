import type { Address } from '../values/hex.js'
import { DAY_SECONDS } from '../values/time.js'
import type { ListedOrder } from './order.js'

/** How much something is traded. The counts are those of 24 hours. */
interface Use {
  readonly orders24h: number
  /** Distinct users. Anyone can have many, so that this only sorts. */
  readonly users24h: number
  /** Block time of the last settlement, Unix time in seconds. */
  readonly lastUsed: number
}

/** A token in the settled orders of one chain. */
export interface TokenUse extends Use {
  /** The chain of the token: that of the order for its input, and the destination chain for its output. */
  readonly chainId: number
  readonly token: Address
}

/** A pair of tokens in the settled orders of one chain. */
export interface PairUse extends Use {
  readonly inputToken: Address
  readonly outputToken: Address
  readonly destinationChainId: number
  readonly inputVolume24h: bigint
  readonly outputVolume24h: bigint
  /** Median time from the deposit to the settlement by block times; undefined without such an order. */
  readonly medianFillMs24h: number | undefined
}

/** The counts of a token or a pair while orders are added. */
interface Count {
  orders: number
  readonly users: Set<Address>
  lastUsed: number
}

interface PairCount extends Count {
  inputVolume: bigint
  outputVolume: bigint
  readonly fillSeconds: number[]
}

/**
 * Builds an empty sum of one chain's settled orders (docs/decisions.md, D29).
 * @param now Unix time in seconds: the 24 hours end here
 */
export function createTradeTally(now: number) {
  const tokens = new Map<string, Pick<TokenUse, 'chainId' | 'token'> & Count>()
  const pairs = new Map<
    string,
    Pick<PairUse, 'inputToken' | 'outputToken' | 'destinationChainId'> & PairCount
  >()

  function add({ chainId, user, terms, steps }: ListedOrder): void {
    if (terms === undefined || steps.settled === undefined) return
    const { inputToken, outputToken, outputChainId } = terms
    const { blockTime } = steps.settled
    const isRecent = blockTime > now - DAY_SECONDS
    const count = (counted: Count) => {
      counted.lastUsed = Math.max(counted.lastUsed, blockTime)
      if (!isRecent) return
      counted.orders++
      counted.users.add(user)
    }
    // A token that is traded for itself on another chain is two tokens, and on one chain the contract refuses it.
    for (const of of [
      { chainId, token: inputToken },
      { chainId: outputChainId, token: outputToken },
    ])
      count(entryOf(tokens, `${of.chainId} ${of.token}`, () => ({ ...of, ...noCount() })))
    const pair = entryOf(pairs, `${inputToken} ${outputToken} ${outputChainId}`, () => ({
      inputToken,
      outputToken,
      destinationChainId: outputChainId,
      inputVolume: 0n,
      outputVolume: 0n,
      fillSeconds: [],
      ...noCount(),
    }))
    count(pair)
    if (!isRecent) return
    pair.inputVolume += terms.inputAmount
    pair.outputVolume += terms.outputAmount
    if (steps.deposited !== undefined)
      pair.fillSeconds.push(Math.max(0, blockTime - steps.deposited.blockTime))
  }

  return {
    /** Adds an order. One that is not settled, or whose terms are not known, does not count. */
    add,
    tokens: (): TokenUse[] =>
      [...tokens.values()].map(({ chainId, token, ...count }) => ({ chainId, token, ...useOf(count) })),
    pairs: (): PairUse[] =>
      [...pairs.values()].map((pair) => ({
        inputToken: pair.inputToken,
        outputToken: pair.outputToken,
        destinationChainId: pair.destinationChainId,
        inputVolume24h: pair.inputVolume,
        outputVolume24h: pair.outputVolume,
        medianFillMs24h: medianMs(pair.fillSeconds),
        ...useOf(pair),
      })),
  }
}

/**
 * Sorts tokens or pairs: listed ones first, then by distinct users, then by the last use. What is equal keeps its order.
 * @returns the first ones, at most `limit`
 */
export function rankByUse<T extends Partial<Use>>(
  items: readonly T[],
  isListed: (item: T) => boolean,
  limit: number,
): readonly T[] {
  return items
    .map((item) => ({
      item,
      rank: [Number(isListed(item)), item.users24h ?? 0, item.lastUsed ?? 0] as const,
    }))
    .sort(({ rank: a }, { rank: b }) => b[0] - a[0] || b[1] - a[1] || b[2] - a[2])
    .slice(0, limit)
    .map(({ item }) => item)
}

function noCount(): Count {
  return { orders: 0, users: new Set(), lastUsed: 0 }
}

function useOf({ orders, users, lastUsed }: Count): Use {
  return { orders24h: orders, users24h: users.size, lastUsed }
}

function entryOf<T>(entries: Map<string, T>, key: string, create: () => T): T {
  const known = entries.get(key)
  if (known !== undefined) return known
  const entry = create()
  entries.set(key, entry)
  return entry
}

/** The median in milliseconds; of two in the middle, their mean. */
function medianMs(seconds: readonly number[]): number | undefined {
  const sorted = [...seconds].sort((a, b) => a - b)
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return low === undefined || high === undefined ? undefined : ((low + high) / 2) * 1000
}
