import { setTimeout as delay } from 'node:timers/promises'
import { type Address, type Hex, maxUint256, parseAbi } from 'viem'
import { settlementAbi } from '../../gen/contracts/settlement.js'
import { ORDER_TYPES, type Quote } from '../domain/quote.js'
import { createDevnetClient, type DevAccount, type Devnet, mined } from './deploy.js'
import { type Arrival, followTransfers } from './deposit-feed.js'
import { followOrders } from './order-feed.js'

/** A signed quote of a solver, and the deposit address of the user. */
export interface GivenQuote {
  readonly quote: Quote
  readonly signature: Hex
  readonly depositAddress: Address
}

/** Fills and settles the orders of one solver when their deposits come. */
export interface Filler {
  /** Remembers a quote until its fill deadline, in case its deposit address is used. */
  expect(given: GivenQuote): void
  /**
   * Fills the orders of the service's event stream from now on, at any of its replicas. @returns when it is
   * open
   */
  follow(serviceUrls: readonly string[]): Promise<void>
  /** Fills an order that was deposited at the contract. The event stream of `follow` is one source of these. */
  fill(orderId: Hex): Promise<void>
  /** Ignores the deposits that come before `resume`, permanently. */
  pause(): void
  resume(): void
  /** May be called more than once. */
  close(): Promise<void>
}

interface FillerOptions extends Devnet {
  readonly account: DevAccount
  readonly settlement: Address
  /** The tokens that the solver pays out. */
  readonly tokens: readonly Address[]
  readonly onError: (error: unknown) => void
}

/** How long an open transaction may take when the filler is closed. */
const LAST_TRANSACTION_MS = 1000

const tokenAbi = parseAbi(['function approve(address spender, uint256 amount) returns (bool)'])

/**
 * Builds a filler, which approves the contract to take every token that it pays out, and watches transfers.
 */
export async function startFiller(options: FillerOptions): Promise<Filler> {
  const { account, settlement, tokens, onError } = options
  const client = createDevnetClient(options, account)
  for (const address of tokens) {
    const call = { address, abi: tokenAbi, functionName: 'approve', args: [settlement, maxUint256] } as const
    await mined(client, await client.writeContract(call))
  }
  const expected = new Map<string, GivenQuote>()
  let isPaused = false
  let closing: Promise<void> | undefined
  /** One transaction after the other, so that no two of them take the same nonce. */
  let acting = Promise.resolve()

  /** An order that cannot be filled must not block the next one. */
  function act(transaction: () => Promise<void>): Promise<void> {
    acting = acting.then(transaction).catch((error) => {
      if (closing === undefined) onError(error)
    })
    return acting
  }

  async function fill(orderId: Hex): Promise<void> {
    if (isPaused) return
    const call = { address: settlement, abi: settlementAbi, functionName: 'fill', args: [orderId] } as const
    await act(async () => void (await mined(client, await client.writeContract(call))))
  }

  async function settle({ quote, signature }: GivenQuote): Promise<void> {
    const struct = {
      ...quote,
      orderType: ORDER_TYPES.indexOf(quote.orderType),
      outputChainId: BigInt(quote.outputChainId),
    }
    const call = {
      address: settlement,
      abi: settlementAbi,
      functionName: 'settle',
      args: [struct, signature],
    } as const
    await act(async () => void (await mined(client, await client.writeContract(call))))
  }

  function onArrival({ to, amount }: Arrival): void {
    forgetExpired()
    const given = expected.get(to)
    if (isPaused || given === undefined || amount < given.quote.inputAmount) return
    expected.delete(to)
    void settle(given)
  }

  function forgetExpired(): void {
    const now = Date.now() / 1000
    for (const [address, { quote }] of expected) if (quote.fillDeadline < now) expected.delete(address)
  }

  async function endFeeds(): Promise<void> {
    const ended = Promise.all([...feeds.map((endFeed) => endFeed()), acting])
    // A chain that has ended would never mine the transaction.
    await Promise.race([ended, delay(LAST_TRANSACTION_MS, undefined, { ref: false })])
  }

  const feeds = [await followTransfers(options, tokens, onArrival, onError)]
  return {
    expect(given) {
      forgetExpired()
      expected.set(given.depositAddress, given)
    },
    async follow(serviceUrls) {
      const solver = account.address
      feeds.push(await followOrders({ ...options, serviceUrls, solver, onDeposit: fill }))
    },
    fill,
    pause() {
      isPaused = true
    },
    resume() {
      isPaused = false
    },
    close: () => (closing ??= endFeeds()),
  }
}
