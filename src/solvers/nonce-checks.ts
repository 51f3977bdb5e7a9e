import { randomInt } from 'node:crypto'
import type { Address, Hex } from '../domain/hex.js'

/** A nonce of an offer. */
export interface SentNonce {
  readonly nonce: bigint
  /** Hash of the last block seen when the offer came; undefined when it was unknown. */
  readonly block: Hex | undefined
}

/** Checks nonces in sequential batches, so that no solver can cause more reads. */
export interface NonceChecks {
  /** Checks a nonce soon. */
  add(solver: Address, sent: SentNonce): void
  close(): void
}

/** The nonces of each solver that may wait; a further one replaces one of them at random. */
const MAX_WAITING = 10
/** The checks of one batch, whose reads are one request. */
const MAX_BATCH = 50
const BATCH_INTERVAL_MS = 1000

/**
 * Builds the checks of one chain.
 * @param check reads one nonce and records the result; its errors are ignored, as the nonce may come again
 */
export function createNonceChecks(check: (solver: Address, sent: SentNonce) => Promise<void>): NonceChecks {
  /** The solvers that have waited longest come first. */
  const waiting = new Map<Address, SentNonce[]>()
  let nextAt = Number.NEGATIVE_INFINITY
  let isRunning = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  function schedule(): void {
    if (isRunning || isClosed || timer !== undefined || waiting.size === 0) return
    timer = setTimeout(() => void run(), Math.max(0, nextAt - performance.now()))
  }

  async function run(): Promise<void> {
    timer = undefined
    isRunning = true
    nextAt = performance.now() + BATCH_INTERVAL_MS
    await Promise.allSettled(takeBatch().map(([solver, sent]) => check(solver, sent)))
    isRunning = false
    schedule()
  }

  function takeBatch(): (readonly [Address, SentNonce])[] {
    const batch: (readonly [Address, SentNonce])[] = []
    for (const [solver, nonces] of waiting) {
      if (batch.length + nonces.length > MAX_BATCH) break
      batch.push(...nonces.map((sent) => [solver, sent] as const))
      waiting.delete(solver)
    }
    return batch
  }

  return {
    add(solver, sent) {
      const nonces = waiting.get(solver) ?? []
      if (nonces.some(({ nonce }) => nonce === sent.nonce)) return
      // At random, so that a solver cannot push out the one that it wants to hide.
      if (nonces.length < MAX_WAITING) nonces.push(sent)
      else nonces[randomInt(MAX_WAITING)] = sent
      waiting.set(solver, nonces)
      schedule()
    },
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
