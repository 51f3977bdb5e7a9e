import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { createPostgresDatabase } from '../../support/databases/postgres-database.js'
import { freePort } from '../../support/free-port.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startProcess } from '../../support/process/process.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest, startSolver } from '../../support/solvers/solver.js'

const isMissing = spawnSync('pgbouncer', ['--version']).error !== undefined

const chain = await shared(startModelChain({ bonded: 3 }))

/** Starts PgBouncer in front of a database of the test. It does not run as root. @returns the database's URL through it */
async function startPgBouncer(poolMode: 'session' | 'transaction'): Promise<string> {
  const database = new URL(await createPostgresDatabase())
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'pgbouncer-'))
  chmodSync(folder, 0o755)
  const server = {
    host: database.hostname,
    port: database.port,
    user: decodeURIComponent(database.username),
    password: decodeURIComponent(database.password),
  }
  const login = Object.entries(server).flatMap(([key, value]) => (value === '' ? [] : `${key}=${value}`))
  const file = join(folder, 'pgbouncer.ini')
  const settings = [
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${poolMode}`,
  ]
  writeFileSync(
    file,
    [
      '[databases]',
      `${database.pathname.slice(1)} = ${login.join(' ')}`,
      '[pgbouncer]',
      ...settings,
      '',
    ].join('\n'),
  )
  const isRoot = process.getuid?.() === 0
  const started = startProcess('pgbouncer', [...(isRoot ? ['--user', 'nobody'] : []), file], {})
  await started.waitFor(/process up/)
  onTestFinished(async () => {
    started.signal('SIGTERM')
    started.signal('SIGINT')
    await started.exited
  })
  return `postgres://any@127.0.0.1:${port}${database.pathname}`
}

describe.skipIf(isMissing)('PgBouncer (needs it from Debian)', () => {
  it('two replicas share solvers where it pools by session', async () => {
    const environment = { DATABASE_URL: await startPgBouncer('session') }
    const first = await startService(chain, environment)
    onTestFinished(() => first.close())
    const second = await startService(chain, environment)
    onTestFinished(() => second.close())
    const solver = await startSolver(chain, solverAccounts[0], honest({ output: '1000' }))
    onTestFinished(() => solver.close())
    await solver.register(first)
    await expect
      .poll(async () => (await second.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))).status)
      .toBe(200)
  })

  it('the start refuses in one line where it pools by transaction', async () => {
    const environment = { DATABASE_URL: await startPgBouncer('transaction') }
    await expect(startService(chain, environment)).rejects.toThrow(
      /^DATABASE_URL leads to a pooler that .*pool_mode = session.*$/,
    )
  })
})
