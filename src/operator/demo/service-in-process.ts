import type { RunningService } from '../../../packages/cli/src/devnet/network.js'
import { createApp } from '../../app/app.js'
import { readConfig } from '../../config/config.js'
import type { Environment } from '../../config/environment.js'
import { createLog } from '../../telemetry/log.js'

/**
 * Starts the service in this process.
 * @param environment its variables
 * @param onLogLine called with each line of its log, which goes to the standard output when this is left out
 */
export async function startServiceInProcess(
  environment: Environment,
  onLogLine?: (line: string) => void,
): Promise<RunningService> {
  const config = readConfig(environment)
  if (onLogLine === undefined) return createApp(config)
  const write = (line: string) => onLogLine(line.trimEnd())
  return createApp(config, { log: createLog(config.logLevel, { write }) })
}
