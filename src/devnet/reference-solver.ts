import { randomBytes } from 'node:crypto'
import Fastify from 'fastify'
import { bytesToHex } from 'viem'
import { parseUint256 } from '../domain/amount.js'
import { type Address, lowerCase } from '../domain/hex.js'
import type { OrderType, Quote } from '../domain/quote.js'
import { registrationMessage } from '../domain/registration-messages.js'
import type { DevAccount, Devnet } from './deploy.js'
import { type Filler, startFiller } from './filler.js'
import { atPreferredPort } from './preferred-port.js'
import { price, type TradedToken } from './pricing.js'
import { createQuoteSigner } from './quote-signer.js'

/** A solver that prices from a table, signs, and fills: an example for your own. */
export interface ReferenceSolver {
  readonly name: string
  readonly account: DevAccount
  readonly endpointUrl: string
  readonly filler: Filler
  /** Registers through the service's public API. */
  register(serviceUrl: string): Promise<void>
  close(): Promise<void>
}

interface ReferenceSolverOptions extends Devnet {
  readonly account: DevAccount
  readonly name: string
  readonly settlement: Address
  readonly tokens: readonly TradedToken[]
  readonly spreadBps: bigint
  readonly protocolName: string
  /** The port, unless it is taken. 0 takes any free one. */
  readonly usualPort: number
  readonly onError: (error: unknown) => void
}

/** The body of the service's quote request (docs/decisions.md, D4). */
interface QuoteRequestBody {
  readonly inputToken: Address
  readonly outputToken: Address
  readonly orderType: OrderType
  readonly amount: string
  readonly userAddress: Address
  readonly chainId: number
  readonly destinationChainId: number
  readonly depositMode: 'CONTRACT' | 'ADDRESS'
  readonly depositDeadline: number
  readonly fillDeadline: number
}

const HOST = '127.0.0.1'

/** Starts a reference solver: `POST /quote` on 127.0.0.1, and a filler. */
export async function startReferenceSolver(options: ReferenceSolverOptions): Promise<ReferenceSolver> {
  const { account, name, tokens, spreadBps, protocolName } = options
  const address = lowerCase(account.address)
  const sign = await createQuoteSigner(options)
  const filler = await startFiller({ ...options, tokens: tokens.map((token) => token.address) })

  function quote(ask: QuoteRequestBody) {
    const amount = parseUint256(ask.amount)
    if (amount === undefined || ask.chainId !== options.chainId) return undefined
    const amounts = price(tokens, spreadBps, { ...ask, amount })
    if (amounts === undefined) return undefined
    const offer: Quote = {
      solver: address,
      user: lowerCase(ask.userAddress),
      inputToken: lowerCase(ask.inputToken),
      outputToken: lowerCase(ask.outputToken),
      ...amounts,
      orderType: ask.orderType,
      outputChainId: ask.destinationChainId,
      depositDeadline: ask.depositDeadline,
      fillDeadline: ask.fillDeadline,
      nonce: BigInt(bytesToHex(randomBytes(8))),
    }
    const signed = sign(offer)
    if (ask.depositMode === 'ADDRESS') filler.expect({ quote: offer, ...signed })
    return { quote: toWire(offer), signature: signed.signature }
  }

  const server = await atPreferredPort(options.usualPort, (port) => serve(quote, port)).catch(
    async (error) => {
      await filler.close()
      throw error
    },
  )
  const { endpointUrl } = server

  return {
    name,
    account,
    endpointUrl,
    filler,
    async register(serviceUrl) {
      const timestamp = Date.now()
      const message = registrationMessage(protocolName, { address, endpointUrl, timestamp })
      const signature = await account.signMessage({ message })
      const answer = await fetch(`${serviceUrl}/v1/${options.chainId}/solvers/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ address, endpointUrl, name, signature, timestamp }),
      })
      if (!answer.ok) throw new Error(`${name} could not register: ${await answer.text()}`)
    },
    async close() {
      await Promise.all([server.close(), filler.close()])
    },
  }
}

/** Answers quote requests over HTTP. A request without a result of `quote` is declined. */
async function serve(quote: (ask: QuoteRequestBody) => object | undefined, port: number) {
  const server = Fastify({ forceCloseConnections: true })
  server.post<{ Body: QuoteRequestBody }>(
    '/quote',
    async ({ body }, reply) =>
      quote(body) ?? reply.code(422).send({ error: 'this pair or amount is not traded here' }),
  )
  const endpointUrl = await server.listen({ host: HOST, port })
  return { endpointUrl, close: () => server.close() }
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
