import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { listen } from '../../support/listen.js'
import { BUILT } from '../../support/process/built.js'
import { startProcess } from '../../support/process/process.js'
import { startScene } from '../../support/service/scene.js'
import { environmentFor } from '../../support/service/service.js'

const [account] = solverAccounts
const key = Buffer.from(account.getHdKey().privateKey ?? []).toString('hex')

const { chain, service } = await startScene({ bonded: 1 })

const preload = join(import.meta.dirname, 'loaded-databases.mjs')
const startCli = (argv: string[], environment: Record<string, string> = {}) =>
  startProcess(process.execPath, [`${BUILT}/cli.js`, ...argv], {
    AGGREGATOR_URL: service.url,
    ...environment,
  })

describe.concurrent('the command line as a process', () => {
  it('reads a key from a pipe, and loads no database for it', async () => {
    const argv = ['register', '--chain', '31337', '--endpoint', 'http://127.0.0.1:9', '--name', 'Ada']
    const cli = startCli([...argv, '--key-file', '-'], { NODE_OPTIONS: `--import=${preload}` })
    cli.child.stdin.end(`0x${key}\n`)
    expect(await cli.exited, cli.output()).toBe(0)
    expect(cli.output()).toContain(`${account.address} is registered on chain 31337.\n`)
    expect(cli.output()).toContain('database loaded: false')
    expect(cli.output()).not.toContain(key)
  })

  it('serves until SIGTERM, and reports the mistakes of a configuration with 1', async () => {
    const serving = startCli(['serve'], environmentFor(chain))
    const [, url] = await serving.waitFor(/"url":"([^"]+)"/)
    expect((await fetch(`${url}/health`)).status).toBe(200)
    serving.signal('SIGTERM')
    expect(await serving.exited).toBe(0)

    const failing = startCli(['serve'], { ...environmentFor(chain), PORT: 'x' })
    expect(await failing.exited).toBe(1)
    expect(failing.output()).toContain('PORT is "x"')
  })

  it('reads the variables of a file .env, and ends although a connection hangs', async () => {
    const hanging = createServer()
    const { port } = await listen(hanging)
    const folder = dirname(temporaryFile())
    const variables = { ...environmentFor(chain), RPC_URL_31337: `ws://127.0.0.1:${port}` }
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`)
    writeFileSync(join(folder, '.env'), lines.join(''))
    const root = process.cwd()
    const doctor = `exec ${process.execPath} ${root}/${BUILT}/cli.js doctor`
    const cli = startProcess('bash', ['-c', `cd ${folder} && ${doctor}`], {})
    expect(await cli.exited, cli.output()).toBe(5)
    expect(cli.output()).toMatch(/^FAIL {2}RPC_URL_31337 reachable {2}127.0.0.1:\d+ does not answer/m)
    hanging.close()
  })
})
