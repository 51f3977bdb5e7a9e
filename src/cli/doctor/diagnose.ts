import { describeMisspelling, findMisspellings, type Misspelling } from '../../config/misspelt.js'
import { type Config, readConfig } from '../../config.js'
import { ConfigError, type ConfigMistake, type Environment } from '../../environment.js'
import { examineChain } from './check-chain.js'
import { judgeClock } from './check-clock.js'
import { examineDatabase } from './check-database.js'
import { checkPort } from './check-port.js'
import { examinePostgres } from './check-postgres.js'
import { checkSolvers } from './check-solvers.js'
import type { Finding } from './finding.js'

/**
 * Checks what `serve` would run with, and changes nothing.
 * @returns the findings in the order of the configuration, whatever came first
 */
export async function diagnose(environment: Environment): Promise<readonly Finding[]> {
  let config: Config
  const misspelt = findMisspellings(environment).map(toWarning)
  try {
    config = readConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return [...error.mistakes.map(toFinding), ...misspelt]
    throw error
  }
  const [variables, ...findings] = await checkAll(config)
  return [...(variables === undefined ? [] : [variables]), ...misspelt, ...findings]
}

async function checkAll(config: Config): Promise<readonly Finding[]> {
  // First, by itself: SQLite blocks, and would make others look slow.
  const { dbPath, databaseUrl } = config
  const database = await (databaseUrl === undefined ? examineDatabase(dbPath) : examinePostgres(databaseUrl))
  const [chains, port, solvers] = await Promise.all([
    Promise.all(config.chains.map((chain) => examineChain(chain, config))),
    checkPort(config),
    checkSolvers(database.solvers, config),
  ])
  const ages = chains.flatMap(({ headAgeMs }) => (headAgeMs === undefined ? [] : [headAgeMs]))
  return [
    {
      status: 'ok',
      check: 'variables',
      finding: `chains ${chains.map(({ chainId }) => chainId).join(', ')}`,
    },
    ...chains.flatMap(({ findings }) => findings),
    ...judgeClock(ages),
    ...database.findings,
    ...port,
    ...solvers,
  ]
}

function toWarning(misspelling: Misspelling): Finding {
  const cure = `Rename it to ${misspelling.meant}, unless another program reads it.`
  const finding = describeMisspelling(misspelling)
  return { status: 'warn', check: misspelling.variable, finding, cure }
}

function toFinding({ variable, message }: ConfigMistake): Finding {
  const cure = 'Correct it in the environment or in the file .env.'
  return { status: 'fail', check: variable, finding: message, cure }
}
