import { existsSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ServiceError } from '../packages/protocol/src/errors.js'
import { replaceUnprintable } from '../packages/protocol/src/values/text.js'
import { type App, createApp } from './app/app.js'
import { processEnvironment, readConfig } from './config/config.js'
import { ConfigError } from './config/environment.js'
import { describeMisspelling, findMisspellings, type Misspelling } from './config/misspelt.js'
import { type Logger, openProcessLog } from './telemetry/log.js'

/** Time in which a load balancer can notice that this process accepts no more connections. */
const DRAIN_MS = 500
const FOR_NEWCOMERS = [
  'docs/configuration.md lists every variable, .env.example is a file to begin with.',
  'To try the service without any configuration: npm run demo',
]

refuseArguments()
void run()

async function run(): Promise<void> {
  let misspellings: readonly Misspelling[] = []
  try {
    const environment = processEnvironment()
    misspellings = findMisspellings(environment)
    const config = readConfig(environment)
    const log = await openProcessLog(config.logLevel)
    for (const misspelling of misspellings)
      log.warn(misspelling, `${misspelling.variable} ${describeMisspelling(misspelling)}`)
    const starting = createApp(config, { log })
    endWithProcess(starting, log)
    await starting
  } catch (error) {
    process.stderr.write(explain(error, misspellings))
    process.exit(1)
  }
}

/** This program has no arguments; `quote-aggregator serve`, which imports it, refuses its own. */
function refuseArguments(): void {
  const [, program = '', argument] = process.argv
  const isProgram = existsSync(program) && realpathSync(program) === fileURLToPath(import.meta.url)
  if (!isProgram || argument === undefined) return
  process.stderr.write(
    `error: unknown argument '${replaceUnprintable(argument)}'. The service reads variables, see docs/configuration.md.\n`,
  )
  process.exit(2)
}

/**
 * Drains and exits, with 0 after a signal and with 1 after an uncaught error. During the start, it waits until the start
 * has ended.
 */
function endWithProcess(starting: Promise<App>, log: Logger): void {
  let isEnding = false
  const end = (exitCode: number, reason: string) => {
    process.exitCode ||= exitCode
    if (isEnding) return
    isEnding = true
    log.info(`stopping: ${reason}`)
    void starting
      .then((app) => app.close({ drainMs: exitCode === 0 ? DRAIN_MS : 0 }))
      .then(() => log.info('stopped'))
      .finally(() => process.exit())
  }
  const fail = (error: unknown) => {
    log.fatal({ err: error }, 'uncaught error: draining and exiting')
    end(1, 'an uncaught error')
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => end(0, signal))
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
}

/** Explains an error of the configuration or of the database. Any other error is a defect and keeps its stack. */
function explain(error: unknown, misspellings: readonly Misspelling[]): string {
  if (error instanceof ConfigError) return explainIssues(error, misspellings)
  if (error instanceof ServiceError && error.cause instanceof Error)
    return `The service cannot start, because its database fails: ${replaceUnprintable(error.cause.message)}\n`
  return `${(error as Error).stack}\n`
}

/** Writes each configuration error and each misspelt variable on one line, whatever its value contains. */
function explainIssues({ issues }: ConfigError, misspellings: readonly Misspelling[]): string {
  const texts = [
    ...issues.map(({ variable, message }) => `${variable} ${message}`),
    ...misspellings.map((misspelling) => `${misspelling.variable} ${describeMisspelling(misspelling)}`),
  ]
  const [first = '', ...others] = texts.map(replaceUnprintable)
  const lines =
    others.length === 0
      ? [`The service cannot start: ${first}`]
      : [
          'The service cannot start with this configuration:',
          `  ${first}`,
          ...others.map((line) => `  ${line}`),
        ]
  const isNew = issues.some(({ variable }) => variable === 'RPC_URL_<chainId>')
  return [...lines, ...(isNew ? FOR_NEWCOMERS : []), ''].join('\n')
}
