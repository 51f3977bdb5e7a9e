import type { TimedHeader } from '../../packages/protocol/src/node/parse-blocks.js'
import { UNKNOWN_TIME } from '../../packages/protocol/src/settlement/settlement.js'
import type { ChainContext } from './context.js'

const MAX_SKEW_MS = 30_000

/** A skew that is more than right clocks and nodes have; undefined for a smaller one. */
export function wrongSkewMs(skewMs: number | undefined): number | undefined {
  return Math.abs(skewMs ?? 0) > MAX_SKEW_MS ? skewMs : undefined
}

/**
 * Builds the comparison of this machine's clock with the times of a chain's new blocks. Only a block that has just come shows that a
 * clock is ahead: an older one may be old because the chain stands still. A block from the future shows at any time that a clock is behind.
 */
export function createClockSkew({ config, clock, log }: ChainContext) {
  const { chainId, pollIntervalMs } = config
  let last: number | undefined
  let ms: number | undefined
  let isNamed = false

  function name(skewMs: number | undefined): void {
    if ((skewMs !== undefined) === isNamed) return
    isNamed = skewMs !== undefined
    const fields = { chainId, clockSkewMs: skewMs }
    const where = (skewMs ?? 0) < 0 ? 'behind' : 'ahead of'
    if (isNamed)
      log.warn(fields, `the clock of this machine is ${where} the chain: set it, by NTP for example`)
    else log.info(fields, 'the clock of this machine is that of the chain again')
  }

  return {
    /** Notes the chain's head, as soon as it is seen. It may go back, as after a head that was another chain's. */
    saw(head: TimedHeader | undefined): void {
      if (head === undefined || head.timestampMs === UNKNOWN_TIME || head.number === last) return
      const aheadMs = clock.now() - head.timestampMs
      const isNew = last !== undefined && head.number > last
      last = head.number
      if (aheadMs < 0) ms = aheadMs
      // The chain is polled no more often.
      else if (isNew) ms = Math.max(0, aheadMs - pollIntervalMs)
      name(wrongSkewMs(ms))
    },
    /** By how much the clock is ahead of the chain, in milliseconds; negative when it is behind. Undefined until that is known. */
    ms: (): number | undefined => ms,
  }
}
