import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../../config/config.js'
import { type CheckResult, createReport, type Report } from './check-result.js'

const HEALTH_TIMEOUT_MS = 2000
/** Address to call when a program listens at all addresses. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Checks that the port is free, or reports which program uses it. */
export async function checkPort({
  host,
  port,
}: Pick<Config, 'host' | 'port'>): Promise<readonly CheckResult[]> {
  const { ok, list } = createReport('PORT')
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
    ok('', port === 0 ? '0: the system chooses a free port' : `${port} is free at ${host}`)
    server.close()
    await once(server, 'close')
  } catch (error) {
    return explain(error as NodeJS.ErrnoException, { host, port })
  }
  return list
}

async function explain(
  { code, message }: NodeJS.ErrnoException,
  { host, port }: Pick<Config, 'host' | 'port'>,
): Promise<readonly CheckResult[]> {
  const ofPort = createReport('PORT')
  const ofHost = createReport('HOST')
  const remedy = 'Set HOST to 0.0.0.0, or to an address of this machine.'
  if (code === 'EADDRINUSE') await explainOccupied(host, port, ofPort)
  else if (code === 'EACCES')
    ofPort.fail('', `this user may not listen on ${port}`, 'Set PORT to a port above 1023.')
  else ofHost.fail('', `the service cannot bind to ${host}: ${message}`, remedy)
  return [...ofPort.list, ...ofHost.list]
}

async function explainOccupied(host: string, port: number, { fail, judge }: Report): Promise<void> {
  const address = LOOPBACK[host] ?? host
  const urlHost = address.includes(':') ? `[${address}]` : address
  const health = await readHealth(`http://${urlHost}:${port}/health`)
  if (health === undefined) {
    const remedy = 'Set PORT to a free port, or end the program that uses it.'
    return fail('', `${port} is in use by another program`, remedy)
  }
  const text = `${port} is in use by a running instance: version ${health.version}, ${health.status}`
  judge('', health.status === 'ok', text, 'Its /health shows what is down.')
}

async function readHealth(url: string): Promise<{ version: string; status: string } | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) })
    const { version, status, supportedChains } = (await response.json()) as Record<string, unknown>
    if (typeof version !== 'string' || typeof status !== 'string') return undefined
    return Array.isArray(supportedChains) ? { version, status } : undefined
  } catch {
    return undefined
  }
}
