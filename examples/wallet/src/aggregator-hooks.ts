/**
 * Hooks of TanStack Query and wagmi for a page that swaps through an aggregator. Copy this file: it needs nothing else of the example.
 * Give the page's tree a client with `<AggregatorContext value={createAggregatorClient({ baseUrl })}>`. The page says which chain it trades
 * on: the hooks read that chain through the page's node, whatever network the wallet is on.
 */
import {
  type AggregatorClient,
  type AggregatorError,
  type CallOptions,
  type DeclineCode,
  DepositError,
  type DepositProgress,
  type InstanceTrust,
  isDepositBegun,
  isRetryable,
  type OfferLimits,
  type Order,
  type PriceParams,
  prepareRefund,
  type QuoteOffers,
  type QuoteParams,
  type QuoteStreamParams,
  queryKey,
  readOnePrompt,
  readOrderState,
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
import { createContext, useContext, useEffect, useState } from 'react'
import { type Address, type Hex, keccak256, stringToHex } from 'viem'
import { useConfig, useConnection, usePublicClient } from 'wagmi'
import { getConnectorClient } from 'wagmi/actions'

export const AggregatorContext = createContext<AggregatorClient | undefined>(undefined)

const REFRESH_MS = 15_000
const STALE_MS = 60_000
/** How long an instance that does not answer may keep a swap waiting. */
const INSTANCE_MS = 3000
/** How long an amount must stay as it is before it is asked for: an instance limits how often one may ask. */
const CALM_MS = 400
/** Between looks for a deposit that the wallet may still send. */
const LOOK_MS = 4000
/** How long after its fill deadline more may come to the address of an order that has ended. */
const LATE_SECONDS = 3600

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

/**
 * A token as its contract describes it, through the page's node: decimals that decide about money must not come from an instance.
 * @param address undefined until it is known
 */
export function useToken(chainId: number, address: Address | undefined) {
  const node = useNode(chainId)
  return useQuery({
    queryKey: queryKey('token', chainId, address),
    queryFn: node === undefined || address === undefined ? skipToken : () => readToken(node, address),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** What a swap would give, without a user. @param params undefined while there is nothing to ask for */
export function usePrice(asked: PriceParams | undefined) {
  const aggregator = useAggregator()
  const params = useCalm(asked)
  return useQuery({
    queryKey: queryKey('price', params),
    queryFn: params === undefined ? skipToken : ({ signal }) => aggregator.getPrice(params, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
    ...RETRIES,
  })
}

/**
 * The offers that the user can take now, for as long as the hook is used. Where there is none, `declineCode` of `data` says why, as far as a solver
 * does. While the connection is lost, or the instance wants a pause, `lost` says why.
 * @param asked undefined until a wallet is connected
 */
export function useQuotes(asked: QuoteStreamParams | undefined) {
  const aggregator = useAggregator()
  const params = useCalm(asked)
  const [lost, setLost] = useState<AggregatorError>()
  const query = useQuery({
    queryKey: queryKey('quotes', params),
    queryFn:
      params === undefined
        ? skipToken
        : async ({ client, queryKey, signal }) => {
            let last: Offers | null = null
            for await (const offers of watchQuotes(aggregator, params, { signal, onLost: setLost })) {
              last = { ...offers, declineCode: await readDeclineCode(aggregator, params.chainId, offers) }
              setLost(undefined)
              client.setQueryData(queryKey, last)
            }
            return last
          },
    // It reconnects itself, and ends only with what a repetition does not change.
    retry: false,
  })
  return { ...query, lost }
}

interface Offers extends QuoteOffers {
  /** Why a solver has made none, for `explainForUser`; undefined where there are offers, or no solver gives such a reason. */
  readonly declineCode: DeclineCode | undefined
}

/** What solvers say of an amount or a pair. What others say of themselves tells a user nothing. The first that one of them says counts. */
const DECLINE_CODES: readonly DeclineCode[] = [
  'AMOUNT_TOO_SMALL',
  'AMOUNT_TOO_LARGE',
  'INSUFFICIENT_LIQUIDITY',
  'BOND_CANNOT_COVER',
  'UNSUPPORTED_PAIR',
]

/** Reads in the record of a round without offers why there are none. An instance may keep no records. */
async function readDeclineCode(
  aggregator: AggregatorClient,
  chainId: number,
  { best, quoteId }: QuoteOffers,
): Promise<DeclineCode | undefined> {
  if (best !== undefined || quoteId === undefined) return undefined
  const reading = aggregator.getQuoteRecord(chainId, quoteId, { timeoutMs: INSTANCE_MS })
  const solvers = await reading.then((record) => record.solvers).catch(() => [])
  return DECLINE_CODES.find((code) => solvers.some(({ declineCode }) => declineCode === code))
}

/** A value once it has stayed the same for a while, as after its user has typed; undefined until then. */
function useCalm<T>(value: T): T | undefined {
  const text = toText(value)
  const [calm, setCalm] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setCalm(text), CALM_MS)
    return () => clearTimeout(timer)
  }, [text])
  return calm === text ? value : undefined
}

/**
 * Whether the user deposits an amount with one prompt: the allowance is there, or the wallet sends batches. Then ask for quotes with a
 * `minDepositWindow` of 60: solvers may offer more for a price that binds for a minute. Someone who must approve first needs more time.
 * @param amount of the token to sell, in its smallest unit
 * @param settlement the contract that the page pins; an instance may name it in development only
 */
export function useIsOnePrompt(
  chainId: number,
  token: Address,
  amount: bigint,
  settlement: Address | InstanceTrust,
) {
  const node = useNode(chainId)
  const getWallet = useWallet()
  const place = usePlace(chainId, settlement)
  const query = useQuery({
    queryKey: queryKey('one prompt', place, token),
    queryFn:
      node === undefined || place === undefined
        ? skipToken
        : async () => readOnePrompt(await getWallet(), token, await readSettlement(node, settlement)),
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
 * back to the front. A timer does not know of a used nonce or a lost bond. Let nobody click before it has succeeded. While the next offer
 * is checked, the last one's success stays: `useSwap` checks again what is clicked.
 * @param taken undefined while there is no offer
 * @param settlement the contract that the page pins; an instance may name it in development only
 */
export function useOfferCheck(taken: Taken | undefined, settlement: Address | InstanceTrust) {
  const aggregator = useAggregator()
  const node = useNode(taken?.params.chainId)
  return useQuery({
    queryKey: queryKey('offer', taken?.offer.orderId, taken?.params, taken?.limits, settlement),
    queryFn:
      taken === undefined || node === undefined
        ? skipToken
        : async () => {
            // Its own deposit has used the offer.
            if (isDepositBegun(swapOf(taken).progress)) return true
            await assertGood(aggregator, taken, await readSettlement(node, settlement))
            return true
          },
    placeholderData: (last) => (taken ? last : undefined),
    refetchOnWindowFocus: 'always',
    retry: false,
  })
}

/** @throws QuoteVerificationError or DepositError for an offer that must not be taken; ChainReadError when the node does not answer */
async function assertGood(
  aggregator: AggregatorClient,
  { offer, params, limits }: Taken,
  terms: SettlementTerms,
): Promise<void> {
  // The instance can only stop a swap: the page's node decides, and is asked last.
  const asked = aggregator.checkOffer(params.chainId, offer, { timeoutMs: INSTANCE_MS })
  const state = await asked.then((check) => check.state).catch(() => undefined)
  if (state === 'DEAD' || state === 'TAKEN') throw new DepositError('EXPIRED')
  await verifyQuote(offer, { ...terms, params, limits })
}

/**
 * Checks an offer against the settlement contract, and deposits, with one prompt where the wallet can. Its result is the id of the
 * order, and `progress` says what the wallet is asked for: undefined until then. A wallet on another network is asked for nothing: the error is
 * the `ChainMismatchError` of viem. A deposit that was begun is followed, and no other one is begun before it is seen: also by another component or tab, and after the page
 * was loaded again. While `isUncertain`, offer no other swap before the user has looked into the wallet: the hook goes on looking, and
 * `forget` is for the user who has found that the wallet will send nothing more. For a transfer, the browser must store the offer, without which
 * nothing comes back.
 * @param settlement the contract that the page pins; an instance may name it in development only
 */
export function useSwap(chainId: number, settlement: Address | InstanceTrust) {
  const aggregator = useAggregator()
  const node = useNode(chainId)
  const getWallet = useWallet()
  const place = usePlace(chainId, settlement)
  const [progress, setProgress] = useState<DepositProgress>()
  /** Asks the wallet, unless a deposit was begun. */
  async function send({ offer, params, limits, progress }: KeptSwap, terms: SettlementTerms) {
    const wallet = await getWallet()
    const ending = new AbortController()
    const keep = (next: DepositProgress | undefined) =>
      keepSwap({ offer, params, limits, progress: next, ...(place && { place }) })
    try {
      await sendDeposit(wallet, offer, terms, {
        params,
        limits,
        earlier: progress,
        signal: ending.signal,
        onProgress(next) {
          setProgress(next)
          // Meanwhile another component or tab may have begun one.
          const other = next.state === 'asked' ? unseenSwap(place) : undefined
          if (other && keyOf(other.offer) !== keyOf(offer)) ending.abort(new DepositError('UNCERTAIN'))
          else keep(next)
        },
      })
    } catch (error) {
      // It has changed nothing for certain.
      if (error instanceof DepositError && error.reason !== 'UNCERTAIN') keep(undefined)
      throw error
    }
  }

  const swap = useMutation({
    onMutate: (asked: Taken): Taken => unseenSwap(place) ?? asked,
    mutationFn: async (asked: Taken): Promise<Hex> => {
      const taken = unseenSwap(place) ?? { ...swapOf(asked), ...(place && { place }) }
      const { offer, params, progress } = taken
      setProgress(progress)
      if (node === undefined) throw new Error(`wagmi has no chain ${chainId}`)
      if (place === undefined) throw named('ConnectorNotConnectedError', 'no wallet is connected')
      const isKept = keepSwap(taken)
      if (!isKept && params.depositMode === 'ADDRESS' && !isDepositBegun(progress))
        throw named('NothingStoredError', 'The browser stores nothing: no transfer without its offer.')
      const terms = await readSettlement(node, settlement)
      // A deposit has used the nonce of its offer: what was begun is followed, and not checked again.
      if (!isDepositBegun(progress)) await assertGood(aggregator, taken, terms)
      await send(taken, terms)
      return offer.orderId
    },
  })
  const { mutate, reset, isIdle, isError } = swap
  // Others may have seen its deposit, or the end of its order, before this hook.
  const followed = isError && swap.context ? keptSwap(keyOf(swap.context.offer)) : undefined
  const unseen = unseenSwap(place) ?? (isDepositBegun(followed?.progress) ? followed : undefined)
  const isUncertain = isError && unseen !== undefined
  useEffect(() => {
    const begun = unseenSwap(place) ?? begunSwaps(place).find(({ isOver }) => !isOver)
    if (isIdle && begun) mutate(begun)
  }, [isIdle, place, mutate])
  // The wallet may still ask its user, as after a reload. What comes then is seen without a click.
  useQuery({
    queryKey: queryKey('unseen swap', place, unseen && keyOf(unseen.offer)),
    queryFn:
      node === undefined || unseen === undefined
        ? skipToken
        : async () => {
            await send(unseen, await readSettlement(node, settlement))
            mutate(unseen)
            return null
          },
    enabled: isUncertain,
    refetchInterval: LOOK_MS,
    retry: false,
  })
  return {
    ...swap,
    progress,
    /** The order of the deposit, for `useOrder`, also while it is uncertain. Before a click, that of the last swap. */
    orderId: swap.data ?? (unseen ?? (isIdle ? lastSwap(place) : undefined))?.offer.orderId,
    isUncertain,
    forget() {
      if (unseen) keepSwap({ ...unseen, progress: undefined })
      reset()
    },
  }
}

/**
 * What the contract gives back now of a swap that was begun in this browser, of order `orderId`: send its `call` with the user's wallet, from
 * the account `sender` where there is one. A solver that has not paid owes `compensation` too. There is nothing to send before the fill
 * deadline. What was sent to an address twice is found too.
 * @param settlement the contract that the page pins; an instance may name it in development only
 */
export function useRefund(chainId: number, settlement: Address | InstanceTrust) {
  const node = useNode(chainId)
  const place = usePlace(chainId, settlement)
  return useQuery({
    queryKey: queryKey('refund', place),
    queryFn:
      node === undefined || place === undefined
        ? skipToken
        : async () => {
            const terms = await readSettlement(node, settlement)
            // A transfer may have been sent too late, by hand, or twice.
            const isWanted = ({ params, progress, isOver, isEmpty }: KeptSwap) =>
              params.depositMode === 'ADDRESS' ? !isEmpty : isDepositBegun(progress) && !isOver
            for (const swap of keptSwaps()) {
              if (swap.place !== place || !isWanted(swap)) continue
              const { orderId, quote } = swap.offer
              const refund = await prepareRefund(swap.offer, terms)
              if ('call' in refund) return { ...refund, orderId }
              const isLast = swap.isOver && Date.now() / 1000 > quote.fillDeadline + LATE_SECONDS
              if (isLast && refund.isEmpty) keepSwap({ ...swap, isEmpty: true })
            }
            return null
          },
    // What was sent is not to be sent again.
    refetchInterval: ({ state }) => (state.data ? LOOK_MS : STALE_MS),
  })
}

/** The page's node for a chain. @returns undefined where wagmi's config does not have the chain */
function useNode(chainId: number | undefined) {
  // An app may have declared which chains it knows.
  return usePublicClient({ chainId: chainId as never })
}

/** Gives the wallet as it is when it is asked: wagmi's query of it fails while the wallet is on another network, and is not repeated after a switch. */
function useWallet() {
  const config = useConfig()
  // `sendDeposit` reads the network before it asks.
  return () => getConnectorClient(config, { assertChainId: false })
}

/** The chain, the account of the wallet that is asked, and the contract: another account can still swap. */
function usePlace(chainId: number, settlement: Address | InstanceTrust): string | undefined {
  const { address, status } = useConnection()
  const contract = typeof settlement === 'string' ? settlement.toLowerCase() : 'of the instance'
  // While wagmi connects again after a reload, there is an address, and no wallet to ask.
  return status === 'connected' ? `${chainId} ${address} ${contract}` : undefined
}

/** An error with a name that `explainForUser` knows. */
const named = (name: string, message: string) => Object.assign(new Error(message), { name })

/** A swap of this browser. Its offer is kept for good: for the signed quote, the contract returns what was sent to a deposit address. */
interface KeptSwap extends Taken {
  /** As of `usePlace`, when the wallet was asked. */
  readonly place?: string
  /** What the wallet was asked for last. */
  readonly progress?: DepositProgress | undefined
  /** Whether its order was seen to have ended. */
  readonly isOver?: boolean
  /** Whether nothing was left at its address, when more is not expected. */
  readonly isEmpty?: boolean
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

/** Keeps what is given of a swap, and what is known of it besides. @returns whether it is there after the page is loaded again */
function keepSwap(given: KeptSwap): boolean {
  const key = keyOf(given.offer)
  const swap = { ...keptSwap(key), ...given }
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

/** The swaps whose deposit was begun, by their deadline. @param place undefined until a wallet is connected */
function begunSwaps(place: string | undefined): KeptSwap[] {
  if (place === undefined) return []
  const begun = keptSwaps().filter((swap) => swap.place === place && isDepositBegun(swap.progress))
  return begun.sort((one, other) => one.offer.quote.depositDeadline - other.offer.quote.depositDeadline)
}

/** A swap whose wallet may have sent a deposit that nobody has seen: only who has seen it may say so, and not who has seen the order end. */
const unseenSwap = (place: string | undefined) =>
  begunSwaps(place).find(({ progress }) => progress?.state !== 'mined')

const lastSwap = (place: string | undefined) => begunSwaps(place).at(-1)

function storedKeys(): string[] {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(PREFIX))
  } catch {
    return []
  }
}

/**
 * An order, as it changes. That it has ended is believed when the page's node says so too: an instance that is wrong must not make the
 * page forget a deposit.
 * @param orderId undefined until there is one
 * @param settlement the contract that the page pins; an instance may name it in development only
 */
export function useOrder(chainId: number, orderId: Hex | undefined, settlement: Address | InstanceTrust) {
  const aggregator = useAggregator()
  const node = useNode(chainId)
  return useQuery({
    queryKey: queryKey('order', chainId, orderId),
    queryFn:
      orderId === undefined || node === undefined
        ? skipToken
        : async ({ client, queryKey, signal }) => {
            let last: Order | null = null
            for await (const order of aggregator.watchOrder(chainId, orderId, { signal })) {
              const isOver = order.state === 'SETTLED' || order.state === 'REFUNDED'
              const readState = async () => readOrderState(await readSettlement(node, settlement), orderId)
              // The node may be a block behind.
              while (isOver && (await readState().catch(() => undefined)) !== order.state) {
                await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
                signal.throwIfAborted()
              }
              last = order
              client.setQueryData(queryKey, order)
              for (const swap of keptSwaps()) {
                if (swap.offer.orderId !== orderId) continue
                // The contract takes no deposit of an order that has ended. An address takes a transfer.
                const isDone =
                  isOver && swap.params.depositMode === 'CONTRACT' && isDepositBegun(swap.progress)
                keepSwap({
                  ...swap,
                  isOver,
                  ...(isDone && { progress: { step: 'deposit', state: 'mined' } }),
                })
              }
              if (isOver) void client.invalidateQueries({ queryKey: ['refund'] })
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
