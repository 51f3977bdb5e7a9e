import { type Config, readConfig } from '../../config/config.js'
import { ConfigError, type ConfigIssue, type Environment } from '../../config/environment.js'
import { describeMisspelling, findMisspellings, type Misspelling } from '../../config/misspelt.js'
import { examineChain } from './check-chain.js'
import { checkClockDrift } from './check-clock.js'
import { examineDatabase } from './check-database.js'
import { checkPort } from './check-port.js'
import { examinePostgres } from './check-postgres.js'
import { checkRecovery } from './check-recovery.js'
import { type CheckResult, collectResults } from './check-result.js'
import { checkSolvers } from './check-solvers.js'

/**
 * Checks the configuration of `serve` and what it depends on. It changes nothing.
 * @returns the results in the order of the configuration
 */
export async function diagnose(environment: Environment): Promise<readonly CheckResult[]> {
  let config: Config
  const misspelt = findMisspellings(environment).map(toWarning)
  try {
    config = readConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return [...error.issues.map(toCheckResult), ...misspelt]
    throw error
  }
  const [variables, ...checkResults] = await checkAll(config)
  return [...(variables === undefined ? [] : [variables]), ...misspelt, ...checkResults]
}

async function checkAll(config: Config): Promise<readonly CheckResult[]> {
  // The database is checked first and alone. SQLite blocks the event loop, so other checks would measure too much.
  const { dbPath, databaseUrl } = config
  const { content, ...database } = await (databaseUrl === undefined
    ? examineDatabase(dbPath)
    : examinePostgres(databaseUrl))
  const [chains, port, solvers] = await Promise.all([
    Promise.all(config.chains.map((chain) => examineChain(chain, config, content))),
    checkPort(config),
    checkSolvers(content.solvers, config),
  ])
  const ages = chains.flatMap(({ headAgeMs }) => (headAgeMs === undefined ? [] : [headAgeMs]))
  return [
    {
      status: 'ok',
      check: 'variables',
      checkResult: `chains ${chains.map(({ chainId }) => chainId).join(', ')}`,
    },
    ...checkBond(config),
    ...checkPublicUrls(config),
    ...checkRecovery(),
    ...chains.flatMap(({ checkResults }) => checkResults),
    ...checkClockDrift(ages),
    ...database.checkResults,
    ...port,
    ...solvers,
  ]
}

function checkPublicUrls({ production, solverSessions, publicUrls }: Config): readonly CheckResult[] {
  const { warn, list } = collectResults('PUBLIC_URLS')
  const remedy = 'Set it to the origins that solvers dial, or set SOLVER_SESSIONS to false.'
  if (production && solverSessions && publicUrls.length === 0)
    warn('', 'is not set: no solver session opens in production', remedy)
  return list
}

function checkBond({ minSolverBond }: Config): readonly CheckResult[] {
  const { warn, list } = collectResults('MIN_SOLVER_BOND')
  const remedy = 'Set it above 0, except for a trial: bonds pay users whose orders are not filled.'
  if (minSolverBond === 0n) warn('', 'is 0: solvers without a bond stay registered', remedy)
  return list
}

function toWarning(misspelling: Misspelling): CheckResult {
  const remedy = `Rename it to ${misspelling.meant}, unless another program reads it.`
  const checkResult = describeMisspelling(misspelling)
  return { status: 'warn', check: misspelling.variable, checkResult, remedy }
}

function toCheckResult({ variable, message }: ConfigIssue): CheckResult {
  const remedy = 'Correct the variable in the environment or in the file .env.'
  return { status: 'fail', check: variable, checkResult: message, remedy }
}
