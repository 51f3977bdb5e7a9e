import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { TestChain } from '../../support/chain/chain.js'
import { commandLine } from '../../support/process/command-line.js'
import { startService } from '../../support/service/service.js'

/** A line of the log. */
// biome-ignore lint/suspicious/noExplicitAny: lines of many shapes
type Line = any

/** Runs `keys` with these arguments on a database. @returns what it prints with `--json` */
export async function runKeys(environment: Record<string, string>, ...argv: string[]) {
  const { code, stdout, stderr } = await commandLine(['keys', ...argv, '--json'], { environment })
  if (code !== 0) throw new Error(`keys ${argv.join(' ')}: ${stderr}`)
  return JSON.parse(stdout)
}

/** A service on a file of its own, whose keys the test makes with the command line, and whose log it reads. */
export async function startKeyedService(chain: TestChain, environment: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'quote-aggregator-'))
  const variables = { DB_PATH: join(folder, 'service.db'), ...environment }
  const lines: Line[] = []
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) })
  const service = await startService(chain, variables, { log })
  const keys = (...argv: string[]) => runKeys(variables, ...argv)

  return {
    ...service,
    path: variables.DB_PATH,
    lines,
    keys,
    /** Makes a key, and waits until the service accepts it. @returns its id and its text */
    async addKey(label: string, ...limits: string[]): Promise<{ id: string; key: string }> {
      const made = await keys('add', '--label', label, ...limits.flatMap((limit) => ['--limit', limit]))
      const accepts = () =>
        service.send('GET', '/v1/chains', undefined, { headers: { 'x-api-key': made.key } })
      while ((await accepts()).status === 401);
      return made
    },
    async close() {
      await service.close()
      rmSync(folder, { recursive: true })
    },
  }
}
