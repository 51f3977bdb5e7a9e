import { describe, expect, it } from 'vitest'
import { commandLine } from '../../../test/support/process/command-line.js'
import { sendJson, serve } from '../../client/test/server.js'

const solvers = (url: string) => commandLine(['solvers', '--chain', '1', '--url', url])

describe('--url', () => {
  it('is named by the error when the answer is not from an aggregator', async () => {
    const { url } = await serve((_request, response) => void response.writeHead(404).end())
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

describe('AGGREGATOR_API_KEY', () => {
  it('is sent to the instance as x-api-key', async () => {
    const sent: unknown[] = []
    const { url } = await serve((request, response) => {
      sent.push([request.url, request.headers['x-api-key']])
      sendJson(response, 200, [])
    })
    const environment = { AGGREGATOR_URL: url, AGGREGATOR_API_KEY: ' qa_key\n' }
    expect((await commandLine(['solvers', '--chain', '1'], { environment })).code).toBe(0)
    expect(sent).toEqual([['/v1/1/solvers', 'qa_key']])
  })

  it.each(['API_KEY_REQUIRED', 'API_KEY_INVALID'])('is named by the error %s', async (code) => {
    const { url } = await serve((_request, response) => sendJson(response, 401, { error: 'No.', code }))
    const ended = await solvers(url)
    expect(ended.code).toBe(4)
    expect(ended.stderr).toContain('AGGREGATOR_API_KEY')
  })
})
