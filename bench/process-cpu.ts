import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { BuiltService } from './built-service.js'

/**
 * The CPU time of all threads of a service in seconds. To read it costs the service nothing, where the system has /proc; elsewhere
 * its metrics are asked.
 */
export async function cpuSecondsOf(service: BuiltService): Promise<number> {
  const tasks = `/proc/${service.pid}/task`
  if (!existsSync(tasks)) return service.cpuSeconds()
  const nanoseconds = readdirSync(tasks).map((id) =>
    Number(readFileSync(`${tasks}/${id}/schedstat`, 'utf8').split(' ')[0]),
  )
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e9
}
