import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { startProcess } from '../../support/process/process.js'
import { startScene } from '../../support/service/scene.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'

/** Debian's, which has Debian's packages. */
const PYTHON = '/usr/bin/python3'
const hasWebSockets = spawnSync(PYTHON, ['-c', 'import websockets']).status === 0
const hasCurl = String(spawnSync('curl', ['--version']).stdout).includes('HTTP2')

/** Prints each message of an event stream. */
const FOLLOW = `
import asyncio, sys, websockets
async def follow():
    async with websockets.connect(sys.argv[1]) as socket:
        async for message in socket:
            print(message, flush=True)
asyncio.run(follow())
`

const { chain, service } = await startScene({ solvers: ['Ada'] })

describe.skipIf(!hasWebSockets)("websockets of Python (needs Debian's python3-websockets)", () => {
  it('follows events', async () => {
    const traffic = await createTraffic(chain, { seed: 31 })
    const program = startProcess(PYTHON, ['-c', FOLLOW, `${service.url.replace('http', 'ws')}/v1/ws`], {})
    await program.waitFor(/"type":"connected"/)
    await traffic.mine([traffic.actions.deposit(traffic.order())])
    await program.waitFor(/"type":"Deposited"/)
    program.signal('SIGKILL')
    await program.exited
  })
})

describe.skipIf(!hasCurl)('curl (needs one with HTTP/2)', () => {
  it.each([
    ['--http1.1', '1.1'],
    ['--http2-prior-knowledge', '2'],
  ])('gets a quote with %s', async (flag, version) => {
    const body = ['--json', JSON.stringify(quoteRequest(chain))]
    const url = `${service.url}/v1/${chain.chainId}/quote`
    const program = startProcess(
      'curl',
      ['--silent', flag, '--write-out', '\n%{http_version}', ...body, url],
      {},
    )
    expect(await program.exited).toBe(0)
    const [answer = '', seen] = program.output().split('\n')
    expect(JSON.parse(answer).quote.outputAmount).toBe('1000')
    expect(seen).toBe(version)
  })
})
