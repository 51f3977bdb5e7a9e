import { setMaxListeners } from 'node:events'
import { type Level, pino } from 'pino'
import type { Address } from 'viem'
import type { SignedQuote } from '../../../packages/protocol/src/quotes/quote.js'
import type { DepositVerdict, UnknownReason } from '../../../packages/protocol/src/quotes/verification.js'
import { lowerCase } from '../../../packages/protocol/src/values/hex.js'
import { createDepositVerifier } from '../../../src/chain/verification/deposit-verifier.js'
import type { ChainConfig } from '../../../src/config/config.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { type Fixture, startSettlement, stranger } from './settlement.js'
import { offerOf } from './signed-offer.js'

/** The settlement contract with two offers, and verifiers that ask it. */
export interface VerifiedSettlement {
  readonly chain: Fixture
  /** URL of the chain's node. */
  readonly rpcUrl: string
  /** An offer that the contract accepts. */
  readonly offer: SignedQuote
  /** An offer that another account has signed. */
  readonly refusedOffer: SignedQuote
  openVerifier(
    rpcUrls: readonly string[],
    changes?: VerifierChanges,
  ): ReturnType<typeof createDepositVerifier>
  stop(): void
}

/** Differences from the chain's own contract and from a silent log. */
interface VerifierChanges {
  readonly chainId?: number
  readonly settlement?: Address
  /** Called with each warning. */
  readonly onWarning?: (line: string) => void
}

/** The time of all checks of a quote. */
export const VERIFY_TIMEOUT_MS = 300

/** A signal that is never aborted. */
export const NEVER = new AbortController().signal
setMaxListeners(0, NEVER)

export const ACCEPTED: DepositVerdict = { kind: 'accepted' }
/** The verdict on `refusedOffer`. */
export const SIGNED_BY_ANOTHER: DepositVerdict = { kind: 'rejected', error: 'SignerNotSolver' }
export const unknownVerdict = (reason: UnknownReason): DepositVerdict => ({ kind: 'unknown', reason })

export async function startVerifiedSettlement(): Promise<VerifiedSettlement> {
  const chain = await startSettlement()
  return {
    chain,
    rpcUrl: chain.client.transport.url ?? '',
    offer: offerOf(await chain.signedQuote()),
    refusedOffer: offerOf(await chain.signedQuote({}, stranger)),
    openVerifier(
      rpcUrls,
      { chainId = chain.chainId, settlement = chain.contracts.settlement, onWarning } = {},
    ) {
      const level: Level | 'silent' = onWarning === undefined ? 'silent' : 'warn'
      return createDepositVerifier(
        { chainId, rpcUrls, settlement: lowerCase(settlement) } as unknown as ChainConfig,
        {
          verifyTimeoutMs: VERIFY_TIMEOUT_MS,
          metrics: createMetrics(),
          log: pino({ level }, { write: (line) => onWarning?.(line) }),
        },
      )
    },
    stop: chain.stop,
  }
}
