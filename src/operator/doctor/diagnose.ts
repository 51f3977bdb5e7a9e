import { type Config, readConfig } from '../../config/config.js'
import { ConfigError, type Environment } from '../../config/environment.js'
import { describeMisspelling, findMisspellings, findUnserved } from '../../config/misspelt.js'
import { examineChain } from './check-chain.js'
import { examineDatabase } from './check-database.js'
import { examinePostgres } from './check-postgres.js'
import { type CheckResult, CORRECT_IT, createReport } from './check-result.js'
import { checkSolvers } from './check-solvers.js'

/**
 * Checks the configuration of `serve` and what it depends on. It changes nothing.
 * @returns the results in the order of the configuration
 */
export async function diagnose(environment: Environment): Promise<readonly CheckResult[]> {
  const { ok, warn, fail, list } = createReport('')
  let config: Config | undefined
  try {
    config = readConfig(environment)
    ok('variables', `chains ${config.chains.map(({ chainId }) => chainId).join(', ')}`)
    for (const { variable, message } of config.warnings) warn(variable, message, CORRECT_IT)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const { variable, message } of error.issues) fail(variable, message, CORRECT_IT)
  }
  const misspellings = findMisspellings(environment)
  for (const misspelling of misspellings) {
    const remedy = `Rename it to ${misspelling.meant}, unless another program reads it.`
    warn(misspelling.variable, describeMisspelling(misspelling), remedy)
  }
  if (config === undefined) return list
  const served = config.chains.map(({ chainId }) => chainId)
  for (const variable of findUnserved(environment, served))
    if (!misspellings.some((misspelling) => misspelling.variable === variable))
      warn(variable, 'belongs to a chain that SUPPORTED_CHAINS does not have: it is not read', 'Remove it.')
  return [...list, ...(await checkAll(config))]
}

async function checkAll(config: Config): Promise<readonly CheckResult[]> {
  // The database is checked first and alone. SQLite blocks the event loop, so other checks would measure too much.
  const { dbPath, databaseUrl } = config
  const { content, ...database } = await (databaseUrl === undefined
    ? examineDatabase(dbPath)
    : examinePostgres(databaseUrl))
  const [chains, solvers] = await Promise.all([
    Promise.all(config.chains.map((chain) => examineChain(chain, config, content))),
    checkSolvers(content.solvers, config),
  ])
  return [...checkRisks(config), ...chains.flat(), ...database.checkResults, ...solvers]
}

/** Warns of values that are right for a trial only. */
function checkRisks(config: Config): readonly CheckResult[] {
  const { minSolverBond, production, solverSessions, publicUrls } = config
  const { warn, list } = createReport('')
  const bonds = 'Set it above 0, except for a trial: bonds pay users whose orders are not filled.'
  if (minSolverBond === 0n) warn('MIN_SOLVER_BOND', 'is 0: solvers without a bond stay registered', bonds)
  const origins = 'Set it to the origins that solvers dial, or set SOLVER_SESSIONS to false.'
  if (production && solverSessions && publicUrls.length === 0)
    warn('PUBLIC_URLS', 'is not set: no solver session opens in production', origins)
  return list
}
