import type { Chain } from '../chain/chain.js'
import type { Logger } from '../telemetry/log.js'
import type { FreeBonds } from './free-bonds.js'
import type { SolverDirectory } from './solver-directory.js'

/** Reads the free bonds of one chain that no replica has stored. */
export interface UnknownBonds {
  /** Reads them now, if this replica is not the leader of the chain. */
  check(): void
  /** Reads them in about a second, unless they are known by then. */
  want(): void
  close(): Promise<void>
}

interface UnknownBondsOptions {
  readonly directory: Pick<SolverDirectory, 'registered'>
  readonly freeBonds: Pick<FreeBonds, 'of' | 'isStored' | 'updateUnstored'>
  readonly log: Logger
}

/** The leader of the chain usually stores a new solver's free bond within this time. */
const WAIT_MS = 1000

/**
 * Builds the reader of one chain.
 * @param checkAll reads and stores all bonds, if this replica is the leader of the chain
 */
export function watchUnknownBonds(
  chain: Pick<Chain, 'chainId' | 'isLeader' | 'readBond'>,
  { directory, freeBonds, log }: UnknownBondsOptions,
  checkAll: () => void,
): UnknownBonds {
  const { chainId } = chain
  let timer: NodeJS.Timeout | undefined
  let reading: Promise<void> | undefined
  let isClosed = false
  let isWarned = false

  const countUnknown = () =>
    directory.registered(chainId).filter((solver) => freeBonds.of(solver) === undefined).length

  /** Sends all reads in one batch. If one fails, none counts. */
  async function read(): Promise<void> {
    const solvers = directory.registered(chainId).filter((solver) => !freeBonds.isStored(solver))
    try {
      const bonds = await Promise.all(
        solvers.map(async ({ address }) => [address, await chain.readBond(address)] as const),
      )
      freeBonds.updateUnstored(chainId, new Map(bonds))
    } catch (error) {
      log.debug({ chainId, reason: String(error) }, 'free bonds that are not stored could not be read')
    }
    reading = undefined
    if (countUnknown() > 0) want()
    else isWarned = false
  }

  function check(): void {
    if (!isClosed && !chain.isLeader()) reading ??= read()
  }

  function want(): void {
    if (!isClosed) timer ??= setTimeout(onTime, WAIT_MS)
  }

  function onTime(): void {
    timer = undefined
    const count = countUnknown()
    if (count > 0 && !isWarned)
      log.warn({ chainId, solvers: count }, 'solvers are not asked: their free bond is unknown')
    isWarned = count > 0
    if (count === 0) return
    if (chain.isLeader()) checkAll()
    else check()
  }

  return {
    check,
    want,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await reading
    },
  }
}
