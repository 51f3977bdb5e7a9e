import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../../config/config.js'
import { ConfigError, toListenIssue } from '../../config/environment.js'
import { type CheckResult, CORRECT_IT, createReport } from './check-result.js'

const HEALTH_TIMEOUT_MS = 2000
/** Address to call when a program listens at all addresses. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Checks that the port is free, or that an instance uses it. What keeps the service from listening is said as at its start. */
export async function checkPort({
  host,
  port,
}: Pick<Config, 'host' | 'port'>): Promise<readonly CheckResult[]> {
  const { ok, fail, judge, list } = createReport('')
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
    ok('PORT', port === 0 ? '0: the system chooses a free port' : `${port} is free at ${host}`)
    server.close()
    await once(server, 'close')
  } catch (error) {
    const health = await readHealth(LOOPBACK[host] ?? host, port)
    const issue = toListenIssue(error, { host, port, variable: 'PORT' })
    if (health !== undefined) {
      const text = `${port} is in use by a running instance: version ${health.version}, ${health.status}`
      judge('PORT', health.status === 'ok', text, 'Its /health shows what is down.')
    } else if (issue instanceof ConfigError) {
      for (const { variable, message } of issue.issues) fail(variable, message, CORRECT_IT)
    } else throw issue
  }
  return list
}

/** @returns undefined when no instance answers */
async function readHealth(address: string, port: number) {
  const host = address.includes(':') ? `[${address}]` : address
  try {
    const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS)
    const response = await fetch(`http://${host}:${port}/health`, { signal })
    const { version, status, supportedChains } = (await response.json()) as Record<string, unknown>
    return Array.isArray(supportedChains) ? { version, status } : undefined
  } catch {
    return undefined
  }
}
