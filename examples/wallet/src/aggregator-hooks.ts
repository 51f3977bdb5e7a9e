/**
 * Hooks of TanStack Query and wagmi for a page that swaps through an aggregator. Copy this file: it needs nothing else of the example.
 * Give the page's tree a client with `<AggregatorContext value={createAggregatorClient({ baseUrl })}>`.
 */
import {
  type AggregatorClient,
  type CallOptions,
  DepositError,
  type DepositProgress,
  type InstanceTrust,
  isDepositBegun,
  isRetryable,
  type OfferLimits,
  type Order,
  type PriceParams,
  type QuoteOffers,
  type QuoteParams,
  type QuoteStreamParams,
  queryKey,
  readOnePrompt,
  readSettlement,
  readToken,
  retryDelay,
  type SettlementTerms,
  type SignedQuote,
  sendDeposit,
  verifyQuote,
  watchQuotes,
} from '@quote-aggregator/client'
import { keepPreviousData, skipToken, useMutation, useQuery } from '@tanstack/react-query'
import { createContext, useContext, useEffect } from 'react'
import { type Address, type Hex, keccak256, stringToHex } from 'viem'
import { usePublicClient, useWalletClient } from 'wagmi'

export const AggregatorContext = createContext<AggregatorClient | undefined>(undefined)

const REFRESH_MS = 15_000
const STALE_MS = 60_000
/** How long an instance that does not answer may keep a swap waiting. */
const INSTANCE_MS = 3000

/** The chains of the instance. */
export function useChains() {
  return useAnswer(['chains'], true, (aggregator, options) => aggregator.listChains(options))
}

/** The tokens of a chain, those of the operator's list first. @param chainId undefined until it is known */
export function useTokens(chainId: number | undefined) {
  return useAnswer(['tokens', chainId], chainId !== undefined, (aggregator, options) =>
    aggregator.listTokens(chainId as number, options),
  )
}

/** A token as its contract describes it, through the page's node: decimals that decide about money must not come from an instance. */
export function useToken(address: Address) {
  const client = usePublicClient()
  return useQuery({
    queryKey: queryKey('token', client?.chain.id, address),
    queryFn: client === undefined ? skipToken : () => readToken(client, address),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** What a swap would give, without a user. @param params undefined while there is nothing to ask for */
export function usePrice(params: PriceParams | undefined) {
  const aggregator = useAggregator()
  return useQuery({
    queryKey: queryKey('price', params),
    queryFn: params === undefined ? skipToken : ({ signal }) => aggregator.getPrice(params, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
    ...RETRIES,
  })
}

/** The offers that the user can take now, for as long as the hook is used. @param params undefined until a wallet is connected */
export function useQuotes(params: QuoteStreamParams | undefined) {
  const aggregator = useAggregator()
  return useQuery({
    queryKey: queryKey('quotes', params),
    queryFn:
      params === undefined
        ? skipToken
        : async ({ client, queryKey, signal }) => {
            let last: QuoteOffers | null = null
            for await (const offers of watchQuotes(aggregator, params, { signal })) {
              last = offers
              client.setQueryData(queryKey, offers)
            }
            return last
          },
    // It reconnects itself, and ends only with what a repetition does not change.
    retry: false,
  })
}

/**
 * Whether the user deposits an amount with one prompt: the allowance is there, or the wallet sends batches. Then ask for quotes with a
 * `minDepositWindow` of 60: solvers may offer more for a price that binds for a minute. Someone who must approve first needs more time.
 * @param amount of the token to sell, in its smallest unit
 * @param settlement the contract that the page pins; an instance may name it in development only
 */
export function useIsOnePrompt(token: Address, amount: bigint, settlement: Address | InstanceTrust) {
  const client = usePublicClient()
  const { data: wallet } = useWalletClient()
  const query = useQuery({
    queryKey: queryKey('one prompt', client?.chain.id, wallet?.account.address, token),
    queryFn:
      client === undefined || wallet === undefined
        ? skipToken
        : async () => readOnePrompt(wallet, token, await readSettlement(client, settlement)),
    refetchInterval: REFRESH_MS,
  })
  return (query.data ?? 0n) >= amount
}

/** An offer that the user has clicked. */
interface Taken {
  readonly offer: SignedQuote
  readonly params: QuoteParams
  /** The amounts that the page showed at the click: those of a later round must not replace them. */
  readonly limits: OfferLimits
}

/**
 * Whether an offer that the page shows is still good: read at the page's node and through the instance, and again when the tab comes
 * back to the front. A timer does not know of a used nonce or a lost bond. Let nobody click before it has succeeded.
 * @param taken undefined while there is no offer
 * @param settlement the contract that the page pins; an instance may name it in development only
 */
export function useOfferCheck(taken: Taken | undefined, settlement: Address | InstanceTrust) {
  const aggregator = useAggregator()
  const client = usePublicClient()
  return useQuery({
    queryKey: queryKey('offer', taken?.offer.orderId, taken?.params, taken?.limits, settlement),
    queryFn:
      taken === undefined || client === undefined
        ? skipToken
        : async () => {
            // Its own deposit has used the offer.
            if (isDepositBegun(swapOf(taken).progress)) return true
            await assertGood(aggregator, taken, await readSettlement(client, settlement))
            return true
          },
    refetchOnWindowFocus: 'always',
    retry: false,
  })
}

/** @throws QuoteVerificationError or Error for an offer that must not be taken; ChainReadError when the node does not answer */
async function assertGood(
  aggregator: AggregatorClient,
  { offer, params, limits }: Taken,
  terms: SettlementTerms,
): Promise<void> {
  // The instance can only stop a swap: the page's node decides, and is asked last.
  const asked = aggregator.checkOffer(params.chainId, offer, { timeoutMs: INSTANCE_MS })
  const state = await asked.then((check) => check.state).catch(() => undefined)
  if (state === 'DEAD' || state === 'TAKEN') throw new Error('This offer is not valid any more.')
  await verifyQuote(offer, { ...terms, params, limits })
}

/**
 * Checks an offer against the settlement contract, and deposits, with one prompt where the wallet can. Its result is the id of the
 * order. A deposit that was begun is followed, and no other one is begun before it is seen: also by another component or tab, and after the page
 * was loaded again. While `isUncertain`, offer no other swap before the user has looked into the wallet: `mutate` looks again, and
 * `forget` is for the user who has found that the wallet has sent nothing. For a transfer, the browser must store the offer, without which
 * nothing comes back.
 * @param settlement the contract that the page pins; an instance may name it in development only
 */
export function useSwap(settlement: Address | InstanceTrust) {
  const aggregator = useAggregator()
  const client = usePublicClient()
  const { data: wallet } = useWalletClient()
  const contract = typeof settlement === 'string' ? settlement.toLowerCase() : 'of the instance'
  const place = wallet && client && `${client.chain.id} ${wallet.account.address} ${contract}`
  const swap = useMutation({
    mutationFn: async (asked: Taken): Promise<Hex> => {
      if (client === undefined || wallet === undefined || place === undefined)
        throw new Error('no wallet is connected')
      const taken = unseenSwap(place) ?? { ...swapOf(asked), place }
      const { offer, params, limits, progress } = taken
      const isKept = keepSwap(taken)
      if (!isKept && params.depositMode === 'ADDRESS' && !isDepositBegun(progress))
        throw new Error('The browser stores nothing: no transfer without its offer.')
      const terms = await readSettlement(client, settlement)
      // A deposit has used the nonce of its offer: what was begun is followed, and not checked again.
      if (!isDepositBegun(progress)) await assertGood(aggregator, taken, terms)
      const ending = new AbortController()
      try {
        await sendDeposit(wallet, offer, terms, {
          params,
          limits,
          earlier: progress,
          signal: ending.signal,
          onProgress(next) {
            // Meanwhile another component or tab may have begun one.
            const other = next.state === 'asked' ? unseenSwap(place) : undefined
            if (other && keyOf(other.offer) !== keyOf(offer))
              ending.abort(new Error('Another swap was begun.'))
            else keepSwap({ ...taken, progress: next })
          },
        })
      } catch (error) {
        // It has changed nothing for certain.
        if (error instanceof DepositError && error.reason !== 'UNCERTAIN')
          keepSwap({ ...taken, progress: undefined })
        throw error
      }
      return offer.orderId
    },
  })
  const { mutate, reset, isIdle } = swap
  const unseen = unseenSwap(place)
  useEffect(() => {
    const begun = unseenSwap(place) ?? openSwaps(place)[0]
    if (isIdle && begun) mutate(begun)
  }, [isIdle, place, mutate])
  return {
    ...swap,
    isUncertain: swap.isError && unseen !== undefined,
    forget() {
      if (unseen) keepSwap({ ...unseen, progress: undefined })
      reset()
    },
  }
}

/** A swap of this browser. Its offer is kept for good: for the signed quote, the contract returns what was sent to a deposit address. */
interface KeptSwap extends Taken {
  /** The chain, the account of the wallet that was asked, and the contract. Another account can still swap. */
  readonly place?: string
  /** What the wallet was asked for last. */
  readonly progress?: DepositProgress | undefined
  /** Whether its order was seen to have ended. */
  readonly isOver?: boolean
}

/** The swaps of this page: it knows them when the browser stores nothing, or forgets. */
const ownSwaps = new Map<string, KeptSwap>()
/** Those of which the browser has not stored the last change. */
const unstored = new Set<string>()
/** By what the solver has signed: an instance may give any offer the id of another one. */
const keyOf = ({ quote, signature }: SignedQuote) =>
  `${PREFIX}${keccak256(stringToHex(toText([quote, signature])))}`
const PREFIX = 'swap '
/** The limits are those of this click, until the wallet may have sent. */
const swapOf = (taken: Taken): KeptSwap => {
  const kept = keptSwap(keyOf(taken.offer))
  return isDepositBegun(kept?.progress) ? { ...taken, ...kept } : { ...kept, ...taken }
}

/** @returns whether it is there after the page is loaded again */
function keepSwap(swap: KeptSwap): boolean {
  const key = keyOf(swap.offer)
  ownSwaps.set(key, swap)
  try {
    localStorage.setItem(key, toText(swap))
    unstored.delete(key)
    return true
  } catch {
    unstored.add(key)
    return false
  }
}

/** JSON has no bigint. */
const toText = (kept: unknown) =>
  JSON.stringify(kept, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))

function keptSwap(key: string): KeptSwap | undefined {
  const fromJson = (_: string, value: unknown) =>
    typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value
  try {
    // Other tabs change what is stored.
    const stored = unstored.has(key) ? null : JSON.parse(localStorage.getItem(key) ?? 'null', fromJson)
    return stored ?? ownSwaps.get(key)
  } catch {
    return ownSwaps.get(key)
  }
}

const keptSwaps = () =>
  [...new Set([...ownSwaps.keys(), ...storedKeys()])].flatMap((key) => keptSwap(key) ?? [])

/** The swaps whose deposit was begun, and whose order has not ended. @param place undefined until a wallet is connected */
function openSwaps(place: string | undefined): KeptSwap[] {
  if (place === undefined) return []
  return keptSwaps().filter((swap) => swap.place === place && isDepositBegun(swap.progress) && !swap.isOver)
}

/** A swap whose wallet may have sent a deposit that nobody has seen. */
const unseenSwap = (place: string | undefined) =>
  openSwaps(place).find(({ progress }) => progress?.state !== 'mined')

function storedKeys(): string[] {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(PREFIX))
  } catch {
    return []
  }
}

/** An order, as it changes. @param orderId undefined until there is one */
export function useOrder(chainId: number, orderId: Hex | undefined) {
  const aggregator = useAggregator()
  return useQuery({
    queryKey: queryKey('order', chainId, orderId),
    queryFn:
      orderId === undefined
        ? skipToken
        : async ({ client, queryKey, signal }) => {
            let last: Order | null = null
            for await (const order of aggregator.watchOrder(chainId, orderId, { signal })) {
              last = order
              client.setQueryData(queryKey, order)
              const isOver = order.state === 'SETTLED' || order.state === 'REFUNDED'
              for (const swap of keptSwaps())
                if (swap.offer.orderId === orderId) keepSwap({ ...swap, isOver })
            }
            return last
          },
    retry: false,
  })
}

function useAggregator(): AggregatorClient {
  const aggregator = useContext(AggregatorContext)
  if (aggregator === undefined) throw new Error('The hooks need a client in AggregatorContext.')
  return aggregator
}

const RETRIES = {
  retry: (failures: number, error: Error) => failures < 3 && isRetryable(error),
  retryDelay,
}

function useAnswer<T>(
  key: readonly unknown[],
  isWanted: boolean,
  call: (aggregator: AggregatorClient, options: CallOptions) => Promise<T>,
) {
  const aggregator = useAggregator()
  return useQuery({
    queryKey: queryKey(...key),
    queryFn: isWanted ? ({ signal }) => call(aggregator, { signal }) : skipToken,
    staleTime: STALE_MS,
    ...RETRIES,
  })
}
