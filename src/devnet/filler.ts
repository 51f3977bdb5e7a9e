import { type Address, type Hex, maxUint256, parseAbi } from 'viem'
import { settlementAbi } from '../../gen/contracts/settlement.js'
import { ORDER_TYPES, type Quote } from '../domain/quote.js'
import { createDevnetClient, type DevAccount, type Devnet, mined } from './deploy.js'

/** A quote that its solver has signed, and where the user may send the input. */
export interface GivenQuote {
  readonly quote: Quote
  readonly signature: Hex
  readonly depositAddress: Address
}

/** Fills and settles the orders of one solver as their deposits come. */
export interface Filler {
  /** Remembers a quote until its fill deadline, for the case that its deposit address is used. */
  expect(given: GivenQuote): void
  /** Leaves the deposits that come before `resume` alone, for good. */
  pause(): void
  resume(): void
  close(): Promise<void>
}

interface FillerOptions extends Devnet {
  readonly account: DevAccount
  readonly settlement: Address
  /** The tokens that the solver pays out. */
  readonly tokens: readonly Address[]
  readonly onError: (error: unknown) => void
}

const POLL_INTERVAL_MS = 200
const transfers = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'function approve(address spender, uint256 amount) returns (bool)',
])

/** Builds a filler, which approves the contract to take every token that it pays out, and follows the chain. */
export async function startFiller(options: FillerOptions): Promise<Filler> {
  const { account, settlement, tokens, onError } = options
  const client = createDevnetClient(options, account)
  for (const address of tokens) {
    const approve = {
      address,
      abi: transfers,
      functionName: 'approve',
      args: [settlement, maxUint256],
    } as const
    await mined(client, await client.writeContract(approve))
  }
  const expected = new Map<string, GivenQuote>()
  let nextBlock = (await client.getBlockNumber()) + 1n
  let isPaused = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  async function fill(orderId: Hex): Promise<void> {
    const call = { address: settlement, abi: settlementAbi, functionName: 'fill', args: [orderId] } as const
    await mined(client, await client.writeContract(call))
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
    await mined(client, await client.writeContract(call))
  }

  async function followChain(): Promise<void> {
    const toBlock = await client.getBlockNumber()
    if (toBlock < nextBlock) return
    const range = { fromBlock: nextBlock, toBlock }
    const deposits = await client.getContractEvents({
      ...range,
      address: settlement,
      abi: settlementAbi,
      eventName: 'Deposited',
      args: { solver: account.address },
    })
    const arrivals = await client.getLogs({ ...range, address: [...tokens], event: transfers[0] })
    nextBlock = toBlock + 1n
    if (isPaused) return

    for (const { args } of deposits) {
      const { orderId } = args
      if (orderId !== undefined) await attempt(() => fill(orderId))
    }
    for (const { args } of arrivals) {
      const given = expected.get(args.to?.toLowerCase() ?? '')
      if (given === undefined || (args.value ?? 0n) < given.quote.inputAmount) continue
      expected.delete(given.depositAddress)
      await attempt(() => settle(given))
    }
  }

  /** One order that cannot be filled must not keep the next from being. */
  async function attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      if (!isClosed) onError(error)
    }
  }

  function forgetExpired(): void {
    const now = Date.now() / 1000
    for (const [address, { quote }] of expected) if (quote.fillDeadline < now) expected.delete(address)
  }

  let round = Promise.resolve()
  function keepFollowing(): void {
    timer = setTimeout(() => {
      forgetExpired()
      round = attempt(followChain).finally(() => {
        if (!isClosed) keepFollowing()
      })
    }, POLL_INTERVAL_MS)
  }
  keepFollowing()

  return {
    expect(given) {
      expected.set(given.depositAddress, given)
    },
    pause() {
      isPaused = true
    },
    resume() {
      isPaused = false
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await round
    },
  }
}
