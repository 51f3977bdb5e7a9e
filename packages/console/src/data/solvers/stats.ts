import { useEffect, useRef } from 'preact/hooks'
import type {
  GetSolverStatsResponse,
  ListSolverStatsResponse,
  SolverStats,
} from '../../../../../gen/aggregator/v1/solver_stats_pb.js'
import { solverService } from '../api.js'
import { onEvent } from '../events.js'
import type { Failure } from '../failure.js'
import { type Query, useQuery } from '../query.js'
import type { OrderEvent } from '../stream-messages.js'
import { createFillCounts, withFills } from './solver-fills.js'

/** The windows of statistics. */
export const WINDOWS = ['1h', '24h', '7d', '30d'] as const
export type StatsWindow = (typeof WINDOWS)[number]

/** Quotes change them all the time. */
const REFRESH_MS = 30_000
/** Refunds and removed events change the numbers of a day. */
const FILLS_PAUSE_MS = 60_000
const FILLS_REFRESH_MS = 10_800_000
/** No event brings fills. */
const FILLS_UNFOLLOWED_MS = 600_000
const HOUR_SECONDS = 3600
const HOURS: Readonly<Record<StatsWindow, number>> = { '1h': 2, '24h': 25, '7d': 169, '30d': 721 }

interface Fills {
  readonly solvers: readonly SolverStats[] | undefined
  /** Why there are no statistics. */
  readonly failure: Failure | undefined
}

/** The statistics of a day, with the fills that came since they were read. */
export function useFills(chainId: bigint): Fills {
  const ofChain = (event: OrderEvent) => BigInt(event.chainId) === chainId
  const { data, failure } = useQuery(
    `stats ${chainId} 24h`,
    (signal) => solverService.listSolverStats({ chainId, window: '24h' }, { signal }),
    {
      refreshMs: FILLS_REFRESH_MS,
      unfollowedMs: FILLS_UNFOLLOWED_MS,
      // Neither says which solver it concerns.
      refreshOn: (event) => ofChain(event) && (event.type === 'Refunded' || event.type === 'Reverted'),
      eventPauseMs: FILLS_PAUSE_MS,
      refreshOnUse: true,
    },
  )
  const since = useRef({ data, fills: createFillCounts() })
  if (since.current.data !== data) since.current = { data, fills: createFillCounts() }
  useEffect(
    () =>
      onEvent((event) => {
        if (event.type === 'Settled' && ofChain(event)) since.current.fills.add(event.solver)
      }),
    [chainId],
  )
  return {
    solvers: data && withFills(data.solvers, since.current.fills),
    failure: data ? undefined : failure,
  }
}

/** The statistics of all solvers. An instance without them answers UNIMPLEMENTED. */
export function useSolverStats(chainId: bigint, window: StatsWindow): Query<ListSolverStatsResponse> {
  return useQuery(
    `stats ${chainId} ${window}`,
    (signal) => solverService.listSolverStats({ chainId, window }, { signal }),
    { refreshMs: REFRESH_MS },
  )
}

/** The statistics of one solver with its hours. @param isWanted false makes no call @param refreshMs time between two calls */
export function useSolverHours(
  chainId: bigint,
  address: string,
  window: StatsWindow,
  { isWanted = true, refreshMs = REFRESH_MS } = {},
): Query<GetSolverStatsResponse> {
  return useQuery(
    isWanted ? `stats ${chainId} ${address} ${window}` : undefined,
    (signal) => solverService.getSolverStats({ chainId, address, window }, { signal }),
    { refreshMs },
  )
}

/** One value for each hour of the window, the oldest first; undefined where an hour has none. */
export function hourly<T>(
  { hours, window }: Pick<GetSolverStatsResponse, 'hours' | 'window'>,
  read: (hour: GetSolverStatsResponse['hours'][number]) => T | undefined,
  nowMs: number,
): (T | undefined)[] {
  const count = HOURS[window as StatsWindow] ?? HOURS['24h']
  const last = Math.floor(nowMs / 1000 / HOUR_SECONDS) * HOUR_SECONDS
  const byStart = new Map(hours.map((hour) => [Number(hour.start), hour]))
  return Array.from({ length: count }, (_, index) => {
    const hour = byStart.get(last - (count - 1 - index) * HOUR_SECONDS)
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
