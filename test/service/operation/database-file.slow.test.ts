import { describe, expect, it } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { BUILT } from '../../support/process/built.js'
import { startProcess, startServiceProcess } from '../../support/process/process.js'
import { environmentFor } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'

const [account] = solverAccounts

const chain = await shared(startModelChain({ bonded: 2 }))

async function startWith(path: string) {
  const service = startServiceProcess({ ...environmentFor(chain), DB_PATH: path })
  const [, url = ''] = await service.waitFor(/"url":"([^"]+)"/)
  return { ...service, url }
}

const runCli = (path: string, ...args: string[]) =>
  startProcess(process.execPath, [`${BUILT}/cli.js`, ...args], { DB_PATH: path })

describe('a database file that a service uses', () => {
  it('is rejected at a second service, while the command line can use it', async () => {
    const path = temporaryFile()
    const first = await startWith(path)
    const second = startServiceProcess({ ...environmentFor(chain), DB_PATH: path })
    expect(await second.exited).toBe(1)
    expect(second.output()).toContain(`DB_PATH is ${path}, which another service uses: stop that service`)

    const bar = runCli(path, 'solvers', 'block', account.address)
    expect([await bar.exited, bar.output()]).toEqual([0, expect.any(String)])
    expect((await fetch(`${first.url}/health`)).status).toBe(200)
    first.signal('SIGTERM')
    expect(await first.exited).toBe(0)
  })
})

describe('a start with an unusable database file', () => {
  it('says in one line which package of SQLite is missing, and what to install', async () => {
    const service = startServiceProcess(
      { ...environmentFor(chain), DB_PATH: temporaryFile() },
      { preload: ['./test/service/operation/no-sqlite.mjs'] },
    )
    expect(await service.exited).toBe(1)
    expect(service.errors()).toMatch(
      /^The service cannot start: DB_PATH .* better-sqlite3\S*, the SQLite of Node \S+, is not installed: install Python.*\n$/,
    )
  })
  it('says that the package of the database needs another version of Node, and leaves the file alone', async () => {
    const path = temporaryFile()
    const service = startServiceProcess(
      { ...environmentFor(chain), DB_PATH: path },
      { preload: ['./test/service/operation/other-node-version.mjs'] },
    )
    expect(await service.exited).toBe(1)
    expect(service.errors()).toContain('was compiled against a different Node.js version')
    expect(service.errors()).not.toContain('delete it')
  })
})
