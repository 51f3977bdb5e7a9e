import { once } from 'node:events'
import { createServer } from 'node:http'
import { AggregatorError, createSolver, decline, type SolverQuoteRequest } from '@quote-aggregator/solver'
import { bytesToHex, maxUint256 } from 'viem'
import type { OrderType } from '../../../protocol/src/quotes/quote.js'
import type { Address, Hex } from '../../../protocol/src/values/hex.js'
import type { DevAccount, Devnet } from './deploy.js'
import { freeOrAny, tryPort } from './preferred-port.js'

/** A solver's profit in basis points. Read for each quote. */
type Spread = Record<OrderType, number>

/** A solver of the local network that prices from a table, made with the kit for market makers. */
export interface ReferenceSolver {
  readonly name: string
  readonly account: DevAccount
  /** Undefined for a solver that connects by a session. */
  readonly endpointUrl: string | undefined
  readonly spreadBps: Spread
  /** Whether it pays an order. Another function may take its place. */
  mayFill: (orderId: Hex) => boolean
  /** May be called more than once. */
  close(): Promise<void>
}

interface ReferenceSolverOptions extends Devnet {
  readonly account: DevAccount
  readonly name: string
  readonly settlement: Address
  readonly tokens: readonly TradedToken[]
  readonly spreadBps: Spread
  readonly protocolName: string
  /** The base URL of the service. */
  readonly aggregatorUrl: string
  /** How the service asks it: at an endpoint with this port unless it is taken, 0 takes any free one; or by a session. */
  readonly transport: { readonly usualPort: number } | 'session'
  readonly onError: (error: unknown) => void
}

const HOST = '127.0.0.1'
const POLL_INTERVAL_MS = 50
/** People ask the local network for many quotes, and take few. Nobody waits a minute there for a refund. */
const LIMITS = { overcommit: 1_000, maxOpenBond: 1, minFillSeconds: 4 }
/** Ether is free there, and blocks have room. Quotes that are open must fit into a fill window of seconds. */
const CHAIN_LIMITS = { maxCancelFees: 10n ** 19n, maxPayments: 256 }

/**
 * Starts a reference solver, which registers at the service, or connects to it, and then quotes and fills.
 * @throws Error when the service refuses it
 */
export async function startReferenceSolver(options: ReferenceSolverOptions): Promise<ReferenceSolver> {
  const { account, name, spreadBps, aggregatorUrl, transport } = options
  const left: Hex[] = []
  const port = transport === 'session' ? undefined : await tryPort(await freeOrAny(transport.usualPort))
  const endpointUrl = port === undefined ? undefined : `http://${HOST}:${port}`
  let refuse = (_error: Error) => {}
  const refused = new Promise<never>((_resolve, reject) => {
    refuse = reject
  })
  refused.catch(() => {})
  const fail = (error: Error) => refuse(new Error(`${name} could not start: ${describe(error)}`))
  const solver = createSolver({
    ...kitOptions(options),
    aggregatorUrl,
    ...(endpointUrl && { endpointUrl }),
    mayFill({ orderId }) {
      const isWanted = reference.mayFill(orderId)
      if (!isWanted) left.push(orderId)
      return isWanted
    },
    // It registers and connects again by itself. Only the first time must not fail.
    onError(error) {
      if (error instanceof AggregatorError) fail(error)
      if (!left.some((orderId) => String(error).includes(orderId))) options.onError(error)
    },
    onSession(change) {
      if (change.state === 'open') return
      refuse(new Error(`${name} could not connect: ${change.error.message}`))
      if (change.isFinal) options.onError(change.error)
    },
  })
  const server = createServer(solver.handler)
  async function close(): Promise<void> {
    await solver.close()
    server.close().closeAllConnections()
  }
  const reference: ReferenceSolver = { name, account, endpointUrl, spreadBps, mayFill: () => true, close }
  try {
    if (port !== undefined) await once(server.listen(port, HOST), 'listening')
    const start = solver.start().catch((error) => {
      fail(error)
      return refused
    })
    await Promise.race([refused, start])
  } catch (error) {
    await close()
    throw error
  }
  return reference
}

/** An error of the instance has a code. */
function describe(error: Error): string {
  return error instanceof AggregatorError ? `${error.reason}: ${error.message}` : error.message
}

function kitOptions({ account, name, tokens, spreadBps, ...options }: ReferenceSolverOptions) {
  const { rpcUrl, chainId, settlement, protocolName, onError } = options
  return {
    account: bytesToHex(account.getHdKey().privateKey ?? new Uint8Array()),
    name,
    protocolName,
    chains: {
      [chainId]: {
        rpc: rpcUrl,
        settlement,
        tokens: tokens.map(({ address }) => address),
        pollIntervalMs: POLL_INTERVAL_MS,
        ...CHAIN_LIMITS,
      },
    },
    ...LIMITS,
    onError,
    quote(request: SolverQuoteRequest) {
      const amounts = price(tokens, spreadBps[request.orderType], request)
      if (amounts === undefined) return decline('AMOUNT_TOO_SMALL')
      return { amount: request.orderType === 'EXACT_INPUT' ? amounts.outputAmount : amounts.inputAmount }
    },
  }
}

/** A token that a reference solver trades. */
export interface TradedToken {
  readonly address: Address
  readonly decimals: number
  /** Price of one whole token in millionths of a dollar. */
  priceMicros: bigint
}

/** Of spreads and prices: a hundredth of a basis point. */
const PARTS = 1_000_000n

/**
 * Prices a swap from a table of token prices, rounded in the solver's favour.
 * @param spreadBps the solver's profit, to a hundredth of a basis point
 * @returns both amounts in the tokens' smallest units; undefined when a token is not traded, nothing is left,
 * or an amount is above 2^256-1
 */
export function price(
  tokens: readonly TradedToken[],
  spreadBps: number,
  request: Pick<SolverQuoteRequest, 'inputToken' | 'outputToken' | 'orderType' | 'amount'>,
) {
  const input = find(tokens, request.inputToken)
  const output = find(tokens, request.outputToken)
  if (input === undefined || output === undefined) return undefined

  const inputWorth =
    input.priceMicros * 10n ** BigInt(output.decimals) * (PARTS - BigInt(Math.round(spreadBps * 100)))
  const outputWorth = output.priceMicros * 10n ** BigInt(input.decimals) * PARTS
  const isExactInput = request.orderType === 'EXACT_INPUT'
  const inputAmount = isExactInput ? request.amount : divideUp(request.amount * outputWorth, inputWorth)
  const outputAmount = isExactInput ? (request.amount * inputWorth) / outputWorth : request.amount
  return isAmount(inputAmount) && isAmount(outputAmount) ? { inputAmount, outputAmount } : undefined
}

function find(tokens: readonly TradedToken[], address: string): TradedToken | undefined {
  return tokens.find((token) => token.address.toLowerCase() === address.toLowerCase())
}

function isAmount(value: bigint): boolean {
  return value > 0n && value <= maxUint256
}

function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by
}
