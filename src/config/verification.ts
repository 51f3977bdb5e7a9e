import { MAX_QUOTE_TIMEOUT_MS } from '../domain/field-rules.js'
import { VERIFY_MODES, type VerifyMode } from '../domain/quotes/verification.js'
import type { EnvironmentReader } from './environment.js'

/** Reads which offers the settlement contract checks (docs/decisions.md, D13). */
export function readVerification(env: EnvironmentReader) {
  const verifyQuotes = env.oneOf<VerifyMode>('VERIFY_QUOTES', VERIFY_MODES)
  const verifyMax = env.oneOf<VerifyMode>('VERIFY_MAX', VERIFY_MODES)
  const isMaxValid = verifyMax === env.optional('VERIFY_MAX')
  if (isMaxValid && VERIFY_MODES.indexOf(verifyQuotes) > VERIFY_MODES.indexOf(verifyMax))
    env.refuse('VERIFY_QUOTES', `is ${verifyQuotes}: it must not exceed VERIFY_MAX, which is ${verifyMax}`)
  const verifyTimeoutMs = env.integer('VERIFY_TIMEOUT_MS', { min: 1, max: MAX_QUOTE_TIMEOUT_MS })
  return {
    /** The offers that the settlement contract checks when a request does not say. */
    verifyQuotes,
    /** The most that a request may ask for. */
    verifyMax,
    /** The longest time of all checks of a quote. */
    verifyTimeoutMs,
  }
}
