import type { RunningService } from '../../../packages/cli/src/devnet/network.js'
import { createApp } from '../../app/app.js'
import { readConfig } from '../../config/config.js'
import type { Environment } from '../../config/environment.js'
import { createLog } from '../../telemetry/log.js'

/**
 * Starts the service in this process.
 * @param environment its variables
 * @param onLogLine called with each line of its log
 */
export async function startServiceInProcess(
  environment: Environment,
  onLogLine: (line: string) => void = console.log,
): Promise<RunningService> {
  const config = readConfig(environment)
  const write = (line: string) => onLogLine(line.trimEnd())
  return createApp(config, { log: createLog(config.logLevel, { write }) })
}
