import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'undici'
import { afterAll, describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { freePort } from '../../support/free-port.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { BUILT } from '../../support/process/built.js'
import { startProcess, startServiceProcess } from '../../support/process/process.js'
import { environmentFor } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'

/** More than a pipe takes and the service keeps. */
const OVER_MEMORY = 5000
const PATH = `/${'x'.repeat(180)}`
/** Fewer than the service accepts at once. */
const PIPELINED = 8

const folder = mkdtempSync(join(tmpdir(), 'unwritten-log-'))
const chain = await shared(startModelChain())

afterAll(async () => {
  rmSync(folder, { recursive: true })
})

/** The service with this redirection of the shell. */
function startRedirected(redirection: string, environment: Record<string, string> = {}) {
  const command = ['-c', `${redirection}; exec "$@"`, 'sh', process.execPath, `${BUILT}/main.js`]
  return startProcess('sh', command, { ...environmentFor(chain), ...environment })
}

/** Sends requests with the numbers from `first` on one connection. They are answered with 404, and logged. */
async function request(url: string, count: number, first = 0): Promise<void> {
  const client = new Client(url, { pipelining: PIPELINED })
  const answers = numbers(count).map((index) =>
    client.request({ method: 'GET', path: `${PATH}/${first + index}` }),
  )
  for (const answer of answers) {
    const { statusCode, body } = await answer
    expect(statusCode).toBe(404)
    await body.dump()
  }
  await client.close()
}

const linesOf = (log: string) =>
  log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

/** The numbers of the requests in a log. */
const requestsIn = (log: string): number[] =>
  linesOf(log)
    .filter(({ msg }) => msg === 'request')
    .map(({ path }) => Number(path.slice(PATH.length + 1)))
    .toSorted((one, other) => one - other)

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

describe('a service', () => {
  it.runIf(existsSync('/dev/full'))(
    'whose log is on a full disk serves, says so once, and exits with 0',
    async () => {
      const port = await freePort()
      const url = `http://127.0.0.1:${port}`
      const service = startRedirected('exec >/dev/full', { PORT: String(port) })
      const isListening = () => fetch(`${url}/health`).then(Boolean, () => false)
      await eventually(isListening, Boolean)
      await request(url, 200)
      service.signal('SIGTERM')
      expect(await service.exited).toBe(0)
      expect(service.errors()).toMatch(/^The log cannot be written: ENOSPC.*\n$/)
    },
  )

  it('keeps a limited number of lines for a reader that has stalled, and says how many it dropped', async () => {
    const service = startServiceProcess(environmentFor(chain))
    const [, url = ''] = await service.waitFor(/"url":"([^"]+)"/)
    service.child.stdout.pause()
    await request(url, OVER_MEMORY)
    service.child.stdout.resume()
    await service.waitFor(/"dropped":\d+.*\n/)
    await request(url, 1, OVER_MEMORY)
    service.signal('SIGTERM')
    expect(await service.exited).toBe(0)

    const reports = linesOf(service.output()).filter(({ dropped }) => dropped !== undefined)
    expect(reports).toHaveLength(1)
    const logged = requestsIn(service.output())
    expect(logged.length + reports[0].dropped).toBe(OVER_MEMORY + 1)
    expect(logged.at(-1)).toBe(OVER_MEMORY)
    expect(logged[0]).toBe(0)
  })
})
