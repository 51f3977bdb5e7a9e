import Fastify from 'fastify'
import { parseUint256 } from '../domain/amount.js'
import { type Address, lowerCase } from '../domain/hex.js'
import type { DepositMode, OrderType, QuoteRequest } from '../domain/quote.js'
import { registrationMessage } from '../domain/registration-messages.js'
import type { DevAccount } from './deploy.js'

/** The body of the service's quote request (docs/decisions.md, D4). */
interface QuoteRequestBody {
  readonly inputToken: Address
  readonly outputToken: Address
  readonly orderType: OrderType
  readonly amount: string
  readonly userAddress: Address
  readonly chainId: number
  readonly destinationChainId: number
  readonly depositMode: DepositMode
  readonly depositDeadline: number
  readonly fillDeadline: number
}

interface RegistrationOptions {
  readonly account: DevAccount
  readonly name: string
  readonly chainId: number
  readonly protocolName: string
}

const HOST = '127.0.0.1'

/**
 * Answers quote requests at `POST /quote` on 127.0.0.1.
 * @param quote returns a reply; undefined declines
 */
export async function serveQuotes(quote: (request: QuoteRequest) => object | undefined, port: number) {
  const server = Fastify({ forceCloseConnections: true })
  server.post<{ Body: QuoteRequestBody }>('/quote', async ({ body, headers }, reply) => {
    const amount = parseUint256(body.amount)
    const kind = headers['x-quote-kind'] === 'indicative' ? 'INDICATIVE' : 'FIRM'
    const user = lowerCase(body.userAddress)
    const offer = amount === undefined ? undefined : quote({ ...body, kind, amount, user })
    return offer ?? reply.code(422).send({ error: 'this pair or amount is not traded here' })
  })
  const endpointUrl = await server.listen({ host: HOST, port })
  return { endpointUrl, close: () => server.close() }
}

/** Registers an endpoint through the service's public API. @throws Error with the service's answer */
export async function registerEndpoint(
  serviceUrl: string,
  endpointUrl: string,
  { account, name, chainId, protocolName }: RegistrationOptions,
): Promise<void> {
  const address = lowerCase(account.address)
  const timestamp = Date.now()
  const message = registrationMessage(protocolName, { address, endpointUrl, timestamp })
  const signature = await account.signMessage({ message })
  const answer = await fetch(`${serviceUrl}/v1/${chainId}/solvers/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ address, endpointUrl, name, signature, timestamp }),
  })
  if (!answer.ok) throw new Error(`${name} could not register: ${await answer.text()}`)
}
