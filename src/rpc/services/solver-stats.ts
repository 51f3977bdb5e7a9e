import { SolverService } from '../../../gen/aggregator/v1/solver_pb.js'
import { ServiceError } from '../../domain/errors.js'
import type { SolverKey } from '../../domain/solvers/solver.js'
import {
  noSolverCounts,
  type SolverSummary,
  summarize,
  WINDOW_HOURS,
} from '../../domain/solvers/solver-statistics.js'
import type { Address } from '../../domain/values/hex.js'
import type { SolverDirectory } from '../../solvers/registry/solver-directory.js'
import type { StatisticsReader } from '../../solvers/statistics/statistics-reader.js'
import type { SolverStateSources } from '../convert/convert-solver-state.js'
import { toSolverHourMessage, toSolverStatsMessage } from '../convert/convert-solver-stats.js'
import { type Method, unaryMethod } from '../method.js'

interface SolverStatsOptions extends SolverStateSources {
  readonly statistics: StatisticsReader
  readonly directory: Pick<SolverDirectory, 'registered' | 'find' | 'active'>
}

const NO_COUNTS = summarize(noSolverCounts())

/** The methods of SolverService that answer with statistics (docs/decisions.md, D20). */
export function createSolverStatsMethods(options: SolverStatsOptions): Method[] {
  const { statistics, directory } = options

  const toMessage = (key: SolverKey, counts: SolverSummary) =>
    toSolverStatsMessage(key, directory.find(key)?.name, counts, options)

  const listSolverStats = unaryMethod(SolverService.method.listSolverStats, {
    limit: 'solvers',
    read: (message, fields) => ({
      chainId: Number(message.chainId),
      window: fields.statsWindow('window', message.window),
    }),
    async handle({ chainId, window }) {
      const counts = await statistics.bySolver(chainId, WINDOW_HOURS[window])
      const registered = directory.registered(chainId).map(({ address }) => address)
      const known = [...new Set<Address>([...registered, ...[...counts.keys()].sort()])]
      const summaries = known.map((address) => ({ address, counted: counts.get(address) ?? NO_COUNTS }))
      // Only settled orders cost something to fake.
      summaries.sort((one, other) => other.counted.settled - one.counted.settled)
      return {
        window,
        solvers: summaries.map(({ address, counted }) => toMessage({ chainId, address }, counted)),
      }
    },
  })

  const getSolverStats = unaryMethod(SolverService.method.getSolverStats, {
    limit: 'solvers',
    read: (message, fields) => ({
      chainId: Number(message.chainId),
      address: fields.address('address', message.address),
      window: fields.statsWindow('window', message.window),
    }),
    async handle({ window, ...key }) {
      const { hours, total } = await statistics.byHour(key, WINDOW_HOURS[window])
      if (hours.size === 0 && directory.find(key) === undefined)
        throw new ServiceError(
          'SOLVER_NOT_FOUND',
          'This solver is not registered on this chain, and has no counts in the window.',
        )
      return {
        window,
        stats: toMessage(key, total),
        hours: [...hours].map(([hour, counts]) => toSolverHourMessage(hour, counts)),
      }
    },
  })

  return [listSolverStats, getSolverStats]
}
