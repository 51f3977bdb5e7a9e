import { TIMESTAMP_TOLERANCE_MS } from '../../domain/solver.js'
import { formatDuration } from '../printable.js'
import { type CheckResult, collectResults } from './check-result.js'

/** Block times may be so far ahead where miners' clocks are. */
const USUAL_AHEAD_MS = 15_000
const REMEDY = "Set the machine's clock, by NTP for example."

/**
 * Holds the machine's clock against the chains' last blocks, which are never of the future.
 * @param headAgesMs for each chain that answered, how far its last block's time lies before the clock
 */
export function checkClockDrift(headAgesMs: readonly number[]): readonly CheckResult[] {
  const checkResults = collectResults('clock')
  const tolerance = `registrations may be ${formatDuration(TIMESTAMP_TOLERANCE_MS)} off this clock`
  if (headAgesMs.length === 0) {
    checkResults.warn('', 'not checked: no chain has told its time', 'Correct the RPC URLs first.')
    return checkResults.list
  }
  const ageMs = Math.min(...headAgesMs)
  const distance = formatDuration(Math.abs(ageMs))
  if (ageMs < -TIMESTAMP_TOLERANCE_MS) {
    const refused = 'registrations of solvers with the right time are refused'
    checkResults.fail('', `it is ${distance} behind the chains' last block: ${refused}`, REMEDY)
  } else if (ageMs < -USUAL_AHEAD_MS) {
    checkResults.warn('', `it is ${distance} behind the chains' last block; ${tolerance}`, REMEDY)
  } else if (ageMs > TIMESTAMP_TOLERANCE_MS) {
    const remedy = `Unless the chains stand still: ${REMEDY}`
    checkResults.warn('', `it is ${distance} ahead of every chain's last block; ${tolerance}`, remedy)
  } else {
    checkResults.ok('', `the latest block is of ${distance} ${ageMs < 0 ? 'from now' : 'ago'}; ${tolerance}`)
  }
  return checkResults.list
}
