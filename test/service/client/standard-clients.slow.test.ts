import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { user } from '../../support/chain/chain.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { generatePythonStubs, HAS_PYTHON_GRPC, PYTHON } from '../../support/packages/python-stubs.js'
import { startProcess } from '../../support/process/process.js'
import { startScene } from '../../support/service/scene.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'

const GO_PACKAGES = '/usr/share/gocode'
const HAS_GO = [
  '/usr/bin/go',
  '/usr/bin/protoc-gen-go',
  '/usr/bin/protoc-gen-go-grpc',
  `${GO_PACKAGES}/src/google.golang.org/grpc`,
].every(existsSync)
const BUILD_MS = 150_000
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
const traffic = await createTraffic(chain, { seed: 5 })
const folder = mkdtempSync(join(tmpdir(), 'quote-aggregator-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Starts an example that asks for a quote and follows events over gRPC. */
function startExample(program: string, ...args: string[]) {
  const { weth, usdc } = chain.contracts
  const tokens = ['--input', weth, '--output', usdc, '--user', user.address]
  const address = ['--address', new URL(service.url).host]
  const [command, ...first] = program.endsWith('.py') ? [PYTHON, program] : [program]
  const environment = { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' }
  return startProcess(command, [...first, ...address, ...tokens, ...args], environment)
}

/** What an example prints of a quote and of an order from its deposit to its fill. */
async function expectToFollow(program: string): Promise<void> {
  const example = startExample(program, '--events', '2')
  const [, orderId] = await example.waitFor(/quote 1000 (0x[0-9a-f]{64})\n/)
  const order = traffic.order()
  await traffic.mine([traffic.actions.deposit(order)])
  await traffic.mine([traffic.actions.fill(order)])
  expect(await example.exited).toBe(0)
  expect(example.output().split('\n')).toEqual([
    'connected [31337]',
    `quote 1000 ${orderId}`,
    expect.stringMatching(new RegExp(`^deposited ${order.orderId}`, 'i')),
    expect.stringMatching(new RegExp(`^settled ${order.orderId}$`, 'i')),
    '',
  ])
}

describe.skipIf(!HAS_GO)('grpc-go, from the same protos (needs Go of Debian)', () => {
  const program = join(folder, 'quote')

  beforeAll(async () => {
    const run = promisify(execFile)
    const template = 'examples/go/buf.gen.yaml'
    await run('npx', ['buf', 'generate', '--template', template, '--output', `${folder}/src`])
    const env = { ...process.env, GO111MODULE: 'off', GOPATH: `${folder}:${GO_PACKAGES}` }
    await run('/usr/bin/go', ['build', '-o', program, './examples/go'], { env })
  }, BUILD_MS)

  it('gets a quote and follows events', () => expectToFollow(program))
})

describe.skipIf(!HAS_PYTHON_GRPC)('grpcio of Python, from the same protos (needs gRPC of Debian)', () => {
  const program = 'examples/python/quote.py'

  beforeAll(() => generatePythonStubs(folder))

  it('gets a quote and follows events', () => expectToFollow(program))

  it("reads an error's reason and its bad fields", async () => {
    const example = startExample(program, '--amount', '0')
    expect(await example.exited).toBe(1)
    expect(example.output().split('\n')).toEqual([
      'connected [31337]',
      'INVALID_ARGUMENT The request is not valid: see amount.',
      expect.stringMatching(/^ {2}amount: must be /),
      '',
    ])
  })
})

describe.skipIf(!hasWebSockets)("websockets of Python (needs Debian's python3-websockets)", () => {
  it('follows events', async () => {
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
