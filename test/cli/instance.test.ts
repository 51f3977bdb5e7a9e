import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { commandLine } from '../support/process/command-line.js'

const solvers = (url: string) => commandLine(['solvers', '--chain', '1', '--url', url])

describe('--url', () => {
  it('is named by the error when the answer is not from an aggregator', async () => {
    const server = createServer((_request, response) => void response.writeHead(404).end())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { code, stderr } = await solvers(url)
    expect([code, stderr]).toEqual([3, expect.stringContaining(`${url} does not answer as an aggregator`)])
    expect(stderr).toContain('(ANSWER_INVALID)')
  })

  it('is named by the error with the code of the system when no server answers', async () => {
    const { code, stderr } = await solvers('http://127.0.0.1:9/')
    expect([code, stderr]).toEqual([3, expect.stringMatching(/http:\/\/127\.0\.0\.1:9: fetch failed/)])
    expect(stderr).toContain('Name another one with --url or AGGREGATOR_URL.')
  })

  it('is rejected with credentials, which are not printed', async () => {
    const { code, stderr } = await solvers('http://user:secret@127.0.0.1:9')
    expect([code, stderr]).toEqual([
      2,
      'error: --url or AGGREGATOR_URL must have no user name and no password.\n',
    ])
  })
})
