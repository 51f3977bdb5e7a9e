import { setMaxListeners } from 'node:events'
import { type Level, pino } from 'pino'
import type { Address } from 'viem'
import { type Clock, systemClock } from '../../../packages/protocol/src/clock.js'
import type { DepositVerdict, UnknownReason } from '../../../packages/protocol/src/quotes/verification.js'
import { lowerCase } from '../../../packages/protocol/src/values/hex.js'
import { createDepositVerifier } from '../../../src/chain/verification/deposit-verifier.js'
import type { ChainConfig } from '../../../src/config/config.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { only } from '../../support/only.js'

/** Differences from the chain's own contract and from a silent log. */
interface VerifierChanges {
  readonly chainId?: number
  readonly settlement?: Address
  /** The clock of this machine by default. */
  readonly clock?: Clock
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
export const REFUSED: DepositVerdict = { kind: 'rejected', error: 'NonceAlreadyUsed' }
export const unknownVerdict = (reason: UnknownReason): DepositVerdict => ({ kind: 'unknown', reason })

/** A model chain with an offer that the contract accepts and one that it refuses, and verifiers that ask it. */
export async function startVerifiedSettlement() {
  const chain = await startModelChain({ bonded: 0 })
  const { order, actions, mine } = await createTraffic(chain, { seed: 1 })
  const [offer, refusedOffer] = [order(), order()]
  await mine([actions.deposit(refusedOffer)])
  return {
    chain,
    /** URL of the chain's node. */
    rpcUrl: chain.devnet.rpcUrl,
    offer,
    refusedOffer,
    openVerifier(rpcUrls: readonly string[], changes: VerifierChanges = {}) {
      const {
        chainId = chain.chainId,
        settlement = chain.contracts.settlement,
        clock = systemClock,
      } = changes
      const { onWarning } = changes
      const level: Level | 'silent' = onWarning === undefined ? 'silent' : 'warn'
      return createDepositVerifier(
        only<ChainConfig>({ chainId, rpcUrls, settlement: lowerCase(settlement) }),
        {
          verifyTimeoutMs: VERIFY_TIMEOUT_MS,
          metrics: createMetrics(),
          clock,
          log: pino({ level }, { write: (line) => onWarning?.(line) }),
        },
      )
    },
    stop: chain.stop,
  }
}
