import { formatDuration } from '../../../packages/cli/src/output/printable.js'
import { TIMESTAMP_TOLERANCE_MS } from '../../../packages/protocol/src/solvers/solver.js'
import { type CheckResult, createReport } from './check-result.js'

const REMEDY = "Set the machine's clock, by NTP for example."

/**
 * Compares the machine's clock with the times of the chains' last blocks, which are never in the future.
 * @param headAgesMs age of the last block of each endpoint that answered, by this machine's clock
 */
export function checkClockDrift(headAgesMs: readonly number[]): readonly CheckResult[] {
  const { ok, warn, fail, list } = createReport('clock')
  const tolerance = `timestamps of registrations may differ from it by ${formatDuration(TIMESTAMP_TOLERANCE_MS)}`
  const ageMs = Math.min(...headAgesMs)
  const distance = formatDuration(Math.abs(ageMs))
  const early = `it is ${distance} earlier than the chains' last block`
  if (headAgesMs.length === 0)
    warn('', 'not checked: no chain has returned a block', 'Correct the RPC URLs first.')
  else if (ageMs < -TIMESTAMP_TOLERANCE_MS)
    fail('', `${early}: the service rejects registrations of solvers whose clock is right`, REMEDY)
  else if (ageMs > TIMESTAMP_TOLERANCE_MS)
    warn(
      '',
      `it is ${distance} later than every chain's last block; ${tolerance}`,
      `If the chains have not stopped: ${REMEDY}`,
    )
  else ok('', `the time of the latest block is ${distance} ${ageMs < 0 ? 'from now' : 'ago'}; ${tolerance}`)
  return list
}
