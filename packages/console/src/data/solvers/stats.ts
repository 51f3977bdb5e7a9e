import type {
  GetSolverStatsResponse,
  ListSolverStatsResponse,
  SolverStats,
} from '../../../../../gen/aggregator/v1/solver_stats_pb.js'
import { solverService } from '../api.js'
import { type Query, useQuery } from '../query.js'
import type { OrderEvent } from '../stream-messages.js'

/** The windows of statistics. */
export const WINDOWS = ['1h', '24h', '7d', '30d'] as const
type StatsWindow = (typeof WINDOWS)[number]

/** Quotes change them all the time. */
const REFRESH_MS = 30_000
/** An open console that no one uses asks seldom. */
const SELDOM_MS = 600_000
/** A refund takes from a record at once. It concerns all consoles, and the instance keeps an answer for 2 s. */
const AFTER_REFUND = { refreshOn: ({ type }: OrderEvent) => type === 'Refunded', eventPauseMs: 10_000 }

/** The statistics of all solvers. An instance without them answers UNIMPLEMENTED. @param isSeldom whether few people look at them */
export function useSolverStats(
  chainId: bigint,
  window: StatsWindow,
  isSeldom = false,
): Query<ListSolverStatsResponse> {
  return useQuery(
    `stats ${chainId} ${window}`,
    (signal) => solverService.listSolverStats({ chainId, window }, { signal }),
    { ...AFTER_REFUND, refreshMs: isSeldom ? SELDOM_MS : REFRESH_MS, refreshOnUse: isSeldom },
  )
}

/** The statistics of one solver. */
export function useStatsOfSolver(
  chainId: bigint,
  address: string,
  window: StatsWindow,
): Query<GetSolverStatsResponse> {
  return useQuery(
    `stats ${chainId} ${address} ${window}`,
    (signal) => solverService.getSolverStats({ chainId, address, window }, { signal }),
    { ...AFTER_REFUND, refreshMs: REFRESH_MS },
  )
}

/** Part of the requests that a solver answered in time, with any answer; undefined without requests. */
export function answeredShare({
  asked,
  failed,
  late,
  softDeadline,
}: Pick<SolverStats, 'asked' | 'failed' | 'late' | 'softDeadline'>): number | undefined {
  return asked === 0n ? undefined : 1 - Number(failed + late + softDeadline) / Number(asked)
}

/** Part of the requests whose best offer was this solver's; undefined without requests. */
export function winShare({ asked, won }: Pick<SolverStats, 'asked' | 'won'>): number | undefined {
  return asked === 0n ? undefined : Number(won) / Number(asked)
}
