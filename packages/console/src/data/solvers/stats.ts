import type {
  GetSolverStatsResponse,
  ListSolverStatsResponse,
  SolverStats,
} from '../../../../../gen/aggregator/v1/solver_stats_pb.js'
import { solverService } from '../api.js'
import { type Query, useQuery } from '../query.js'

/** The windows of statistics. */
export const WINDOWS = ['1h', '24h', '7d', '30d'] as const
export type StatsWindow = (typeof WINDOWS)[number]

/** Quotes change them all the time. */
const REFRESH_MS = 30_000
/** An open console that no one uses asks seldom. */
const SELDOM_MS = 600_000
const HOUR_SECONDS = 3600
const HOURS: Readonly<Record<StatsWindow, number>> = { '1h': 2, '24h': 25, '7d': 169, '30d': 721 }

/** The statistics of all solvers. An instance without them answers UNIMPLEMENTED. @param isSeldom whether few people look at them */
export function useSolverStats(
  chainId: bigint,
  window: StatsWindow,
  isSeldom = false,
): Query<ListSolverStatsResponse> {
  return useQuery(
    `stats ${chainId} ${window}`,
    (signal) => solverService.listSolverStats({ chainId, window }, { signal }),
    isSeldom ? { refreshMs: SELDOM_MS, refreshOnUse: true } : { refreshMs: REFRESH_MS },
  )
}

/** The statistics of one solver with its hours. */
export function useSolverHours(
  chainId: bigint,
  address: string,
  window: StatsWindow,
): Query<GetSolverStatsResponse> {
  return useQuery(
    `stats ${chainId} ${address} ${window}`,
    (signal) => solverService.getSolverStats({ chainId, address, window }, { signal }),
    { refreshMs: REFRESH_MS },
  )
}

/** The hours of a window, Unix times of their beginnings in seconds, the oldest first. */
export function hoursOf(window: string, nowMs: number): number[] {
  const count = HOURS[window as StatsWindow] ?? HOURS['24h']
  const last = Math.floor(nowMs / 1000 / HOUR_SECONDS) * HOUR_SECONDS
  return Array.from({ length: count }, (_, index) => last - (count - 1 - index) * HOUR_SECONDS)
}

/** One value for each of these hours; undefined where an hour has none. */
export function hourly<T>(
  { hours }: Pick<GetSolverStatsResponse, 'hours'>,
  times: readonly number[],
  read: (hour: GetSolverStatsResponse['hours'][number]) => T | undefined,
): (T | undefined)[] {
  const byStart = new Map(hours.map((hour) => [Number(hour.start), hour]))
  return times.map((time) => {
    const hour = byStart.get(time)
    return hour === undefined ? undefined : read(hour)
  })
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
