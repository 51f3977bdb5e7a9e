import { randomBytes } from 'node:crypto'
import { bytesToHex } from 'viem'
import { openSolverSession, type SolverSession } from '../../packages/solver/src/session/solver-session.js'
import { type Address, type Hex, lowerCase } from '../domain/hex.js'
import type { Quote, QuoteRequest } from '../domain/quote.js'
import type { DevAccount, Devnet } from './deploy.js'
import { type Filler, startFiller } from './filler.js'
import { atPreferredPort } from './preferred-port.js'
import { price, type TradedToken } from './pricing.js'
import { createQuoteSigner } from './quote-signer.js'
import { registerEndpoint, serveQuotes } from './solver-endpoint.js'

/** A solver that prices from a table, signs, and fills: an example for your own. */
export interface ReferenceSolver {
  readonly name: string
  readonly account: DevAccount
  /** Undefined for a solver that connects by a session. */
  readonly endpointUrl: string | undefined
  readonly filler: Filler
  /**
   * Registers or connects through the service's public API, and follows its orders there. @returns when the
   * service asks it
   */
  join(serviceUrls: readonly [string, ...string[]]): Promise<void>
  /** May be called more than once. */
  close(): Promise<void>
}

interface ReferenceSolverOptions extends Devnet {
  readonly account: DevAccount
  readonly name: string
  readonly settlement: Address
  readonly tokens: readonly TradedToken[]
  readonly spreadBps: bigint
  readonly protocolName: string
  /** How the service asks it: at an endpoint with this port unless it is taken, 0 takes any free one; or by a session. */
  readonly transport: { readonly usualPort: number } | 'session'
  readonly onError: (error: unknown) => void
}

/** The part of a solver that the service reaches. */
interface SolverTransport {
  readonly endpointUrl: string | undefined
  join(serviceUrls: readonly [string, ...string[]]): Promise<void>
  close(): Promise<void>
}

/** Makes a signed quote; undefined for a pair or an amount that the solver does not trade. */
type MakeOffer = (request: QuoteRequest) => { quote: Quote; signature: Hex } | undefined

/** Starts a reference solver with its filler. */
export async function startReferenceSolver(options: ReferenceSolverOptions): Promise<ReferenceSolver> {
  const { account, name, tokens, transport: kind } = options
  const sign = await createQuoteSigner(options)
  const filler = await startFiller({ ...options, tokens: tokens.map((token) => token.address) })

  function makeOffer(request: QuoteRequest) {
    if (request.chainId !== options.chainId) return undefined
    const amounts = price(tokens, options.spreadBps, request)
    if (amounts === undefined) return undefined
    const quote = toQuote(lowerCase(account.address), request, amounts)
    const signed = sign(quote)
    if (request.depositMode === 'ADDRESS') filler.expect({ quote, ...signed })
    return { quote, signature: signed.signature }
  }

  let transport: SolverTransport
  try {
    transport =
      kind === 'session'
        ? connectBySession(options, filler, makeOffer)
        : await listenAtEndpoint(options, kind.usualPort, filler, makeOffer)
  } catch (error) {
    await filler.close()
    throw error
  }
  const { endpointUrl, join } = transport
  let closing: Promise<unknown> | undefined
  return {
    name,
    account,
    endpointUrl,
    filler,
    join,
    async close() {
      closing ??= Promise.all([transport.close(), filler.close()])
      await closing
    },
  }
}

/** The service asks an endpoint of the solver, which follows its orders on the service's event stream. */
async function listenAtEndpoint(
  options: ReferenceSolverOptions,
  usualPort: number,
  filler: Filler,
  makeOffer: MakeOffer,
): Promise<SolverTransport> {
  const reply = (request: QuoteRequest) => {
    const offer = makeOffer(request)
    return offer && { ...offer, quote: toWire(offer.quote) }
  }
  const { endpointUrl, close } = await atPreferredPort(usualPort, (port) => serveQuotes(reply, port))
  return {
    endpointUrl,
    async join(serviceUrls) {
      await registerEndpoint(serviceUrls[0], endpointUrl, options)
      await filler.follow(serviceUrls)
    },
    close,
  }
}

/**
 * The solver connects to the service, which asks it on that connection and sends the events of its orders there. It listens
 * nowhere.
 */
function connectBySession(
  options: ReferenceSolverOptions,
  filler: Filler,
  makeOffer: MakeOffer,
): SolverTransport {
  const { name, onError } = options
  let session: SolverSession | undefined
  return {
    endpointUrl: undefined,
    // Only the replica that holds a session asks it, so a connection to one of them is all that there is to have.
    join: ([serviceUrl]) =>
      new Promise((resolve, reject) => {
        session = openSolverSession({
          ...options,
          serviceUrl,
          chainIds: [options.chainId],
          events: {},
          answer: (request) => makeOffer(request) ?? { decline: 'OTHER' },
          onEvent: ({ type, orderId }) => {
            if (type === 'Deposited' && orderId !== undefined) void filler.fill(orderId)
          },
          onReady: () => resolve(),
          // It connects again by itself. Only the first connection must not fail.
          onLost: (error) => {
            reject(new Error(`${name} could not connect: ${error.message}`))
            if (error.isFinal) onError(error)
          },
        })
      }),
    async close() {
      await session?.close()
    },
  }
}

function toQuote(
  solver: Address,
  request: QuoteRequest,
  amounts: Pick<Quote, 'inputAmount' | 'outputAmount'>,
): Quote {
  return {
    solver,
    user: request.user,
    inputToken: lowerCase(request.inputToken),
    outputToken: lowerCase(request.outputToken),
    ...amounts,
    orderType: request.orderType,
    outputChainId: request.destinationChainId,
    depositDeadline: request.depositDeadline,
    fillDeadline: request.fillDeadline,
    nonce: BigInt(bytesToHex(randomBytes(8))),
  }
}

function toWire(offer: Quote) {
  return {
    ...offer,
    inputAmount: offer.inputAmount.toString(),
    outputAmount: offer.outputAmount.toString(),
    orderType: offer.orderType === 'EXACT_INPUT' ? 0 : 1,
    nonce: offer.nonce.toString(),
  }
}
