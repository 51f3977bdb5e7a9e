import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { solverAccounts } from '../support/chain/chain.js'
import { eventually } from '../support/eventually.js'
import { freePort } from '../support/free-port.js'
import { startModelChain } from '../support/model-chain/start-model-chain.js'
import { environmentFor, sendTo } from '../support/service/service.js'
import { shared } from '../support/shared.js'
import { quoteRequest } from '../support/solvers/quote-request.js'
import { startSolver } from '../support/solvers/solver.js'

const ENTERED_FILES = new URL('entered-files.mjs', import.meta.url).href
/** Work that is put off may run within one round, and hardly within all. */
const ROUNDS = 4

const chain = await shared(startModelChain({ bonded: 2 }))

/** A service that runs from its sources, says which of them it enters, and does nothing but what is asked for. */
async function start() {
  const port = await freePort()
  const child = fork('src/main.ts', [], {
    execArgv: ['--import', 'tsx', '--import', ENTERED_FILES],
    env: {
      PATH: process.env.PATH,
      ...environmentFor(chain),
      [`POLL_INTERVAL_MS_${chain.chainId}`]: '600000',
      QUOTE_TIMEOUT_MS: '5000',
      QUOTE_SOFT_TIMEOUT_MS: '5000',
      PORT: String(port),
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const service = sendTo(`http://127.0.0.1:${port}`)
  const status = () =>
    service.get('/health').then(
      ({ body }) => body.status,
      () => 'starting',
    )
  await eventually(status, (found) => found === 'ok')
  child.send('stop intervals')
  /** The files of which a function ran since the last call. */
  const entered = async (): Promise<string[]> => {
    child.send('entered')
    const [paths] = await once(child, 'message')
    return paths
  }
  return { ...service, entered }
}

test('the page of a quote names the files that a quote enters, at most 45', async () => {
  const service = await start()
  for (const account of solverAccounts.slice(0, 2)) {
    const solver = await startSolver(chain, account)
    onTestFinished(() => solver.close())
    await solver.register(service)
  }
  const rounds: string[][] = []
  for (let round = 0; round < ROUNDS; round++) {
    await service.entered()
    const { status } = await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
    expect(status).toBe(200)
    rounds.push(await service.entered())
  }
  const always = rounds[0]?.filter((path) => rounds.every((files) => files.includes(path))) ?? []
  const page = readFileSync('docs/path-of-a-quote.md', 'utf8')
  const named = [...page.matchAll(/`((?:src|packages\/\w+\/src)\/[\w/-]+\.ts)`/g)].map(
    ([, path = '']) => path,
  )
  expect(always.toSorted()).toEqual(named.toSorted())
  expect(always.length).toBeLessThanOrEqual(45)
})
