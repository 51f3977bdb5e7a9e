import { zeroAddress } from 'viem'
import { NO_USER } from '../../../protocol/src/quotes/quote.js'
import type { ChainParts } from '../chain/chain-parts.js'
import type { IncomingRequest } from '../session/wire-forms.js'
import type { Settings } from '../solver-options.js'

/** A deposit needs this long at least. */
const LEAST_DEPOSIT_SECONDS = 2
/** A fill needs this many blocks at least. */
const LEAST_FILL_BLOCKS = 4
const MAX_UINT32 = 2 ** 32 - 1

/**
 * Says what a signature of a request would give away. Whoever reaches the endpoint writes all fields of a request, and an
 * instance may lie as well. A quote with a past deadline is a slash at once, a far one is an option for free, and an
 * indicative one is never paid at its address (docs/decisions.md, D23). Tokens refuse some receivers, and then the order is missed.
 * @param clockMs of this machine, Unix time
 * @returns why it must not be signed; undefined when it may be
 */
export function requestProblem(
  request: IncomingRequest,
  rules: Settings,
  { chain, time }: ChainParts,
  clockMs: number,
): string | undefined {
  const { kind, user, depositDeadline, fillDeadline } = request
  const now = time.now()
  const fillSeconds = fillDeadline - depositDeadline
  const least = Math.max(rules.minFillSeconds, Math.ceil(LEAST_FILL_BLOCKS * time.blockSeconds()))
  if (request.deadline <= clockMs) return `its deadline ${request.deadline} is not after ${clockMs}`
  if (user === zeroAddress || user === chain.settlement || chain.tokens.has(user))
    return `the user ${user} may not get tokens`
  if (kind === 'INDICATIVE' && user !== NO_USER) return `an indicative request has the user ${user}`
  if (fillDeadline > MAX_UINT32) return 'fillDeadline has more than 32 bits'
  if (depositDeadline < now + LEAST_DEPOSIT_SECONDS)
    return `depositDeadline ${depositDeadline} is not ${LEAST_DEPOSIT_SECONDS} s after ${now}`
  if (fillSeconds < least) return `${fillSeconds} s between the deadlines are less than ${least} s`
  if (fillDeadline > now + rules.maxLockSeconds)
    return `fillDeadline ${fillDeadline} is more than ${rules.maxLockSeconds} s after ${now}`
  return undefined
}
