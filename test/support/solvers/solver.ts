import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Address, Hex, LocalAccount } from 'viem'
import { expect, vi } from 'vitest'
import type { TestChain } from '../chain/chain.js'
import { signQuote } from '../chain/signed-quote.js'
import { HANG_MS } from '../hang.js'
import { listen } from '../listen.js'
import type { TestService } from '../service/service.js'

/** The service's request to a solver (docs/decisions.md, D4). */
export interface SolverRequest {
  inputToken: Address
  outputToken: Address
  orderType: 'EXACT_INPUT' | 'EXACT_OUTPUT'
  amount: string
  userAddress: Address
  chainId: number
  /** Other instances of the protocol do not send it, and the mode neither. */
  destinationChainId: number
  depositMode: 'CONTRACT' | 'ADDRESS'
  depositDeadline: number
  fillDeadline: number
  /** Only when the caller lets offers be earlier. */
  minDepositDeadline?: number
}

/** A quote as a solver writes it. */
export interface WireQuote {
  solver: Address
  user: Address
  inputToken: Address
  inputAmount: string
  outputToken: Address
  outputAmount: string
  orderType: number
  outputChainId: number
  depositDeadline: number
  fillDeadline: number
  nonce: string
}

/** A quote as the contract takes it. */
export function contractStruct(quote: WireQuote) {
  return {
    ...quote,
    inputAmount: BigInt(quote.inputAmount),
    outputAmount: BigInt(quote.outputAmount),
    outputChainId: BigInt(quote.outputChainId),
    nonce: BigInt(quote.nonce),
  }
}

export interface WireReply {
  quote: WireQuote
  signature: Hex
}

/** Answers a request with a reply to send, or writes to the response itself. */
export type Behaviour = (
  ask: SolverRequest,
  solver: { sign(quote: WireQuote): Promise<WireReply>; quoteFor(ask: SolverRequest): WireQuote },
  exchange: { request: IncomingMessage; response: ServerResponse },
) => Promise<WireReply | undefined>

export type TestSolver = Awaited<ReturnType<typeof startSolver>>

/** Offers `output` for EXACT_INPUT, or takes `input` for EXACT_OUTPUT, honestly. */
export function honest(amounts: { output?: string; input?: string } = {}): Behaviour {
  return async (ask, { quoteFor, sign }) => {
    const quote = quoteFor(ask)
    if (ask.orderType === 'EXACT_INPUT') quote.outputAmount = amounts.output ?? '1000'
    else quote.inputAmount = amounts.input ?? '1000'
    return sign(quote)
  }
}

const decline: Behaviour = async (_ask, _solver, { response }) => void response.writeHead(422).end()

/** A solver that does not check deadlines cuts them to the 32 bits that it can sign. */
const UINT32 = 2 ** 32

/** Makes and signs the quotes of a solver with viem. Its nonces follow `lastNonce`. */
export function createQuoteSigner(chain: Pick<TestChain, 'domain'>, account: LocalAccount, lastNonce = 0) {
  let nonce = lastNonce
  const sign = async (quote: WireQuote): Promise<WireReply> => ({
    quote,
    signature: await signQuote(account, chain.domain, contractStruct(quote)),
  })
  const quoteFor = (ask: SolverRequest): WireQuote => ({
    solver: account.address,
    user: ask.userAddress,
    inputToken: ask.inputToken,
    inputAmount: ask.amount,
    outputToken: ask.outputToken,
    outputAmount: ask.amount,
    orderType: ask.orderType === 'EXACT_INPUT' ? 0 : 1,
    outputChainId: ask.destinationChainId ?? ask.chainId,
    depositDeadline: ask.depositDeadline % UINT32,
    fillDeadline: ask.fillDeadline % UINT32,
    nonce: String(++nonce),
  })
  return { sign, quoteFor }
}

/** A solver of the tests on 127.0.0.1. Its nonces are 1, 2, 3 and so on. */
export async function startSolver(chain: TestChain, account: LocalAccount, initial: Behaviour = honest()) {
  const asks: SolverRequest[] = []
  const checks: { ask: SolverRequest; headers: IncomingHttpHeaders }[] = []
  const { sign, quoteFor } = createQuoteSigner(chain, account)
  let behaviour = initial
  let checkBehaviour: Behaviour = decline
  let underWay = 0

  const server = createServer(async (request, response) => {
    // A client may still call a server that had this port before.
    if (request.url !== '/quote') return void response.writeHead(404).end()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const ask = readAsk(Buffer.concat(chunks).toString())
    if (ask === undefined) return void response.writeHead(400).end()
    // Prices are indicative too, but have an id.
    const isCheck =
      request.headers['x-quote-kind'] === 'indicative' && request.headers['x-quote-id'] === undefined
    if (isCheck) checks.push({ ask, headers: request.headers })
    else asks.push(ask)
    underWay++
    response.once('close', () => underWay--)
    const reply = await (isCheck ? checkBehaviour : behaviour)(ask, { sign, quoteFor }, { request, response })
    if (reply !== undefined) response.setHeader('content-type', 'application/json').end(JSON.stringify(reply))
  })
  const { url: endpointUrl } = await listen(server)

  return {
    account,
    endpointUrl,
    sign,
    /** Every request for a quote or a price, in order, without those that check a registration. */
    asks,
    /**
     * Every request that checked a registration, in order. They are declined, unless `behaveInChecks` says
     * otherwise.
     */
    checks,
    behave(next: Behaviour) {
      behaviour = next
    },
    behaveInChecks(next: Behaviour) {
      checkBehaviour = next
    },
    /**
     * Resolves when all requests sent so far have been answered: the machine may be slower than their
     * senders.
     */
    async catchUp() {
      await fetch(endpointUrl, { headers: { connection: 'close' } })
      await vi.waitFor(() => expect(underWay).toBe(0), { timeout: HANG_MS })
    },
    register: (service: Pick<TestService, 'post'>, name = 'A solver') =>
      register(service, chain.chainId, account, { endpointUrl, name }),
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** @returns undefined for what is not a request */
function readAsk(text: string): SolverRequest | undefined {
  try {
    const ask = JSON.parse(text)
    return ask.amount === undefined ? undefined : ask
  } catch {
    return undefined
  }
}

let lastTimestamp = 0

/** Unix milliseconds, each time later than the last. */
export function nextTimestamp(): number {
  lastTimestamp = Math.max(Date.now(), lastTimestamp + 1)
  return lastTimestamp
}

/**
 * A registration's body, signed as docs/protocol.md, "Registration messages" says. `changes` are applied
 * after the signing.
 */
export async function signedRegistration(
  account: LocalAccount,
  {
    endpointUrl,
    name = 'A solver',
    timestamp = nextTimestamp(),
    protocolName = 'Service',
  }: RegistrationOptions,
) {
  const address = account.address.toLowerCase()
  const lines = [
    `${protocolName} Solver Registration`,
    `Address: ${address}`,
    `Endpoint: ${endpointUrl}`,
    `Timestamp: ${timestamp}`,
  ]
  const signature = await account.signMessage({ message: lines.join('\n') })
  return { address: account.address, endpointUrl, name, signature, timestamp }
}

interface RegistrationOptions {
  endpointUrl: string
  name?: string
  timestamp?: number
  protocolName?: string
}

/** An unregistration's body, signed as docs/decisions.md, D5 says. */
export async function signedUnregistration(account: LocalAccount, timestamp = nextTimestamp()) {
  const lines = [
    'Service Solver Unregistration',
    `Address: ${account.address.toLowerCase()}`,
    `Timestamp: ${timestamp}`,
  ]
  return { signature: await account.signMessage({ message: lines.join('\n') }), timestamp }
}

/** Registers and expects success. */
export async function register(
  service: Pick<TestService, 'post'>,
  chainId: number,
  account: LocalAccount,
  options: RegistrationOptions,
): Promise<void> {
  const answer = await service.post(
    `/v1/${chainId}/solvers/register`,
    await signedRegistration(account, options),
  )
  if (answer.status !== 200) throw new Error(`not registered: ${JSON.stringify(answer.body)}`)
}
