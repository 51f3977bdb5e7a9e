import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { readDockerfile } from '../../support/deploy/dockerfile.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startProcess } from '../../support/process/process.js'
import { environmentFor, sendTo } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { startSolver } from '../../support/solvers/solver.js'
import { walk } from './image-walk.js'

/** The folder that stands for the image. */
interface Image {
  start(environment: Record<string, string>): ReturnType<typeof startProcess>
  /** Runs the image's health check. @returns its exit code */
  checkHealth(environment: Record<string, string>): Promise<number | null>
}

/** Garbage collections must end no process, which takes seconds of load to see. */
const LOAD_MS = 30_000
const CALLERS = 8
const NO_LIMITS = { RATE_LIMIT_MAX: '0', RATE_LIMIT_QUOTE: '0' }
/**
 * Takes some seconds, or more where the temporary folder is on another file system and packages are copied.
 */
const WALK_MS = 120_000
const stages = readDockerfile()
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

const chain = await shared(startModelChain({ bonded: 1 }))

/** What a container must do: serve in production under load, be healthy, and end on SIGTERM. */
async function expectToServe({ start, checkHealth }: Image): Promise<void> {
  const { DB_PATH: _ofTheImage, ...environment } = environmentFor(chain)
  const service = start({ ...environment, ...NO_LIMITS, SOLVER_ENDPOINT_ALLOWLIST: '127.0.0.1' })
  const [, url = ''] = await service.waitFor(/"url":"([^"]+)".*"msg":"listening"/)
  const { port } = new URL(url)
  expect(await checkHealth({ PORT: port })).toBe(0)
  expect(await checkHealth({ PORT: '1' })).toBe(1)
  expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ status: 'ok', version })

  const { post } = sendTo(url)
  const solver = await startSolver(chain, solverAccounts[0])
  await solver.register({ post })
  const endsAt = performance.now() + LOAD_MS
  const ask = async () => {
    do {
      expect((await post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))).status).toBe(200)
    } while (performance.now() < endsAt)
  }
  await Promise.all(Array.from({ length: CALLERS }, ask))
  await solver.close()

  service.signal('SIGTERM')
  expect(await service.exited).toBe(0)
  const warnings = service.output().match(/^.*"level":[456]0.*$/gm) ?? []
  expect(warnings).toEqual([])
}

describe('the steps of the Dockerfile, without a container engine', () => {
  let folder: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'quote-aggregator-image-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test(
    'make a service that serves in production, is healthy, and ends on SIGTERM with 0',
    async () => {
      const image = walk(stages, folder)
      const inWorkdir = ['-c', 'cd "$0" && exec "$@"', join(image.root, image.workdir)]
      const run = (command: readonly string[], environment: Record<string, string>) =>
        startProcess('sh', [...inWorkdir, ...command], { ...image.environment, ...environment })

      await expectToServe({
        start: (environment) => run(image.command, environment),
        checkHealth: (environment) => run(image.healthCommand, environment).exited,
      })
      for (const file of ['aggregator.db', 'aggregator.db-quotes'])
        expect(existsSync(join(image.root, 'data', file))).toBe(true)
      expect(existsSync(join(image.root, 'app/node_modules/vitest'))).toBe(false)
    },
    WALK_MS,
  )
})
