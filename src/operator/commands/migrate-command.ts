import type { Command } from 'commander'
import type { CliIo } from '../../../packages/cli/src/io.js'
import { printResult } from '../../../packages/cli/src/output/print-result.js'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { readDatabaseLocation } from '../../config/database-url.js'
import { EnvironmentReader } from '../../config/environment.js'
import { DEFAULTS } from '../../config/variables.js'
import { throwUnusable } from '../own-database.js'

interface Options {
  readonly from: string
  readonly json?: boolean
}

const LEFT = `Left in the file: events, orders and the places of subscribers, which come from the chains again from START_BLOCK_<chainId> on,
with new cursors; statistics; records of quotes, and the ids in them; nonces of offers that are open.`

/** `migrate`: moves what cannot be had again from the file of a stopped service to a PostgreSQL. */
export function addMigrate(program: Command, io: CliIo): void {
  program
    .command('migrate')
    .description(
      'Copies keys, lists and registrations from a SQLite file to the empty PostgreSQL of DATABASE_URL.',
    )
    .requiredOption('--from <file>', 'the file; its service must not run')
    .option('--json', 'JSON on standard output, for scripts')
    .addHelpText('after', `\n${LEFT}`)
    .action((options: Options) => migrate(io, options))
}

async function migrate(io: CliIo, options: Options): Promise<void> {
  const { from } = options
  const env = new EnvironmentReader(io.environment(), DEFAULTS)
  const { databaseUrl } = readDatabaseLocation(env)
  if (databaseUrl === undefined) env.refuse('DATABASE_URL', 'must name the PostgreSQL')
  env.assertValid()
  const { moveFile } = await import('../../store/operator/move-file.js')
  const moved = await moveFile(from, databaseUrl ?? '', systemClock.now()).catch((error) =>
    throwUnusable(error, { dbPath: from }),
  )
  await printResult(io, options, moved, ({ fields }) => {
    const names = Object.entries(moved).map(([table, rows]) => [table.replaceAll('_', ' '), rows] as const)
    return `${fields(names)}\n${LEFT}\n`
  })
}
