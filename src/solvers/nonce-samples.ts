import { randomInt } from 'node:crypto'
import type { Address } from '../domain/hex.js'
import type { SentNonce } from './nonce-checks.js'

/** Chooses nonces at random among those that solvers send for the first time. */
export interface NonceSamples {
  /**
   * Adds a nonce. Of all nonces that a solver sends within 5 s, one is chosen, each with the same chance.
   * @param makeSent called only for a nonce that may be chosen, as this runs during a quote
   */
  add(solver: Address, makeSent: () => SentNonce): void
  close(): void
}

const WINDOW_MS = 5000
/** Samples of one window: a fifth of what can be checked in that time, so that repeated nonces do not wait for them. */
const MAX_SAMPLES = 50

interface Candidate {
  sent: SentNonce
  /** The nonces of the window that it was chosen from. */
  seen: number
}

/**
 * Builds the samples of one chain. A solver cannot know which nonce is chosen, as the choice ends after all are sent.
 * @param onSample called with the samples of all solvers at the end of each window
 */
export function createNonceSamples(onSample: (solver: Address, sent: SentNonce) => void): NonceSamples {
  let candidates = new Map<Address, Candidate>()
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function endWindow(): void {
    timer = undefined
    const all = [...candidates]
    candidates = new Map()
    for (let left = MAX_SAMPLES; left > 0 && all.length > 0; left--) {
      for (const [solver, { sent }] of all.splice(randomInt(all.length), 1)) onSample(solver, sent)
    }
  }

  return {
    add(solver, makeSent) {
      if (isClosed) return
      const candidate = candidates.get(solver)
      timer ??= setTimeout(endWindow, WINDOW_MS)
      if (candidate === undefined) candidates.set(solver, { sent: makeSent(), seen: 1 })
      // No solver sees an effect of these numbers before the window ends.
      else if (Math.random() * ++candidate.seen < 1) candidate.sent = makeSent()
    },
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
