import { setMaxListeners } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { type Level, pino } from 'pino'
import type { Address } from 'viem'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import type { SignedQuote } from '../../../packages/protocol/src/quotes/quote.js'
import type { DepositVerdict, UnknownReason } from '../../../packages/protocol/src/quotes/verification.js'
import { lowerCase } from '../../../packages/protocol/src/values/hex.js'
import type { ChainContext } from '../../../src/chain/context.js'
import { createDepositVerifier } from '../../../src/chain/verification/deposit-verifier.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import type { Fixture } from '../../support/chain/settlement.js'
import { listen } from '../../support/listen.js'
import { toQuote } from '../../support/model-chain/settlement-state.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { only } from '../../support/only.js'

interface VerifierOptions {
  readonly chainId: number
  readonly settlement: Address
  /** The clock of this machine by default. */
  readonly clock?: ChainContext['clock']
  readonly metrics?: ChainContext['metrics']
  /** Called with each warning. */
  readonly onWarning?: (line: string) => void
}

const JSON_TYPE = { 'content-type': 'application/json' }
/** The time of all checks of a quote. */
export const VERIFY_TIMEOUT_MS = 300

/** A signal that is never aborted. */
export const NEVER = new AbortController().signal
setMaxListeners(0, NEVER)

export const ACCEPTED: DepositVerdict = { kind: 'accepted' }
/** The verdict on `refusedOffer`. */
export const REFUSED: DepositVerdict = { kind: 'rejected', error: 'NonceAlreadyUsed' }
export const unknownVerdict = (reason: UnknownReason): DepositVerdict => ({ kind: 'unknown', reason })

/** Answers one HTTP request instead of the node. `pass` lets the node answer. */
type RawAnswer = (response: ServerResponse, body: string, pass: () => Promise<void>) => unknown

/** Answers with a result or an error of JSON-RPC. */
export const answer = (response: ServerResponse, body: object, status = 200) =>
  response.writeHead(status, JSON_TYPE).end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }))

/** A node whose HTTP responses a test can write byte by byte, until the end of the test. */
async function openNode(rpcUrl: string) {
  let next: RawAnswer = (_response, _body, pass) => pass()
  let calls = 0
  const server = createServer(async (request, response) => {
    calls++
    const body = await text(request)
    await next(response, body, async () => {
      const real = await fetch(rpcUrl, { method: 'POST', headers: JSON_TYPE, body })
      response.writeHead(200, JSON_TYPE).end(await real.text())
    })
  })
  const { url } = await listen(server)
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url,
    /** Number of requests so far. */
    calls: () => calls,
    /** Answers all requests in this way from now on. */
    answerWith(answer: RawAnswer) {
      next = answer
    },
  }
}

/** A verifier that asks these nodes about a contract. */
export function createVerifier(
  rpcUrls: readonly string[],
  { chainId, settlement, clock = systemClock, metrics = createMetrics(), onWarning }: VerifierOptions,
) {
  const level: Level | 'silent' = onWarning === undefined ? 'silent' : 'warn'
  return createDepositVerifier(
    only<ChainContext>({
      config: { chainId, rpcUrls, settlement: lowerCase(settlement) },
      rpc: { endpoints: [] },
      verifyTimeoutMs: VERIFY_TIMEOUT_MS,
      metrics,
      clock,
      log: pino({ level }, { write: (line) => onWarning?.(line) }),
    }),
  )
}

/** A quote of `startSettlement` as the offer that the service makes of a solver's reply. */
export function offerOf(signed: Awaited<ReturnType<Fixture['signedQuote']>>): SignedQuote {
  return { ...signed, quote: toQuote(signed.quote), depositAddress: lowerCase(signed.depositAddress) }
}

/** A model chain with an offer that the contract accepts and one that it refuses, and verifiers that ask it. */
export async function startVerifiedSettlement() {
  const chain = await startModelChain({ bonded: 0 })
  const { order, actions, mine } = await createTraffic(chain, { seed: 1 })
  const [offer, refusedOffer] = [order(), order()]
  await mine([actions.deposit(refusedOffer)])
  const { chainId, contracts } = chain
  return {
    chain,
    openNode: () => openNode(chain.devnet.rpcUrl),
    offer,
    refusedOffer,
    /** Opens a verifier until the end of the test. */
    openVerifier(rpcUrls: readonly string[], changes: Partial<VerifierOptions> = {}) {
      const verifier = createVerifier(rpcUrls, { chainId, settlement: contracts.settlement, ...changes })
      onTestFinished(verifier.close)
      return verifier
    },
    stop: chain.stop,
  }
}
