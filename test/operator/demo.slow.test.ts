import { execFile } from 'node:child_process'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.js'
import { BUILT } from '../support/process/built.js'
import { startProcess } from '../support/process/process.js'

const USUAL_PORTS = [8545, 3000, 4001]

let occupants: Server[]

beforeAll(async () => {
  occupants = await Promise.all(USUAL_PORTS.map(occupy))
})
afterAll(() => {
  for (const server of occupants) server.close()
})

/** The loader that runs TypeScript ends its own child a moment after the process. An orphan would stay. */
const nothingIsLeft = (demo: ReturnType<typeof startProcess>) =>
  eventually(
    async () => demo.leftSomething(),
    (isLeft) => !isLeft,
  )

/** Listens on a port, unless another process already does. In both cases the port is taken. */
async function occupy(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve).once('error', resolve))
  return server
}

/** The ports that this test keeps taken for its whole time. */
function heldPorts(): number[] {
  return USUAL_PORTS.filter((_, index) => occupants[index]?.listening)
}

const startDemo = (args: string[], environment = {}) =>
  startProcess(process.execPath, [`${BUILT}/cli.js`, 'demo', ...args], environment, { ownGroup: true })

describe.concurrent('npm run demo', () => {
  it('plays its story on free ports, exits with 0 and leaves no process or file', async () => {
    const demo = startDemo(['--once'])
    expect(await demo.exited, demo.output()).toBe(0)
    const ports = [...demo.output().matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port))
    for (const port of heldPorts()) expect(ports).not.toContain(port)
    const states = demo.output().match(/^ {3}(DEPOSITED|SETTLED|REFUNDED)$/gm)
    expect(states?.map((line) => line.trim())).toEqual(['SETTLED', 'SETTLED', 'DEPOSITED', 'REFUNDED'])
    const events = demo.output().match(/(?<=^ {3}event {4})\w+/gm)
    expect(events).toEqual(['Deposited', 'Settled', 'Settled', 'Deposited', 'Refunded'])
    // What the story leaves unfilled is no failure.
    expect(demo.output()).not.toContain('failed')
    expect(demo.output()).toContain("the WETH is back, with 124.9375 bUSD of Aldous's bond")
    expect(demo.output()).toMatch(/^ {3}Cosmo {7}0x\w{40} connected by a session, without an endpoint$/m)
    // A solver without a port wins the second order, and settles it.
    expect(demo.output()).toMatch(
      /^2\..*\n {3}Cosmo .* USDC for .* WETH {2}<- best(\n {3}.*)*\n {3}SETTLED$/m,
    )
    expect(demo.output().match(/^ {3}Cosmo .* USDC for .* WETH$/gm)).toHaveLength(2)
    await nothingIsLeft(demo)
  })

  it('ends on Ctrl-C during its story, with its chain, and leaves no process or file', async () => {
    const demo = startDemo([])
    await demo.waitFor(/deposited: order/)
    process.kill(-(demo.child.pid ?? 0), 'SIGINT')
    expect(await demo.exited).toBe(0)
    expect(demo.output()).not.toMatch(/failed|is lost|error/i)
    await nothingIsLeft(demo)
  })

  it('exits with 1 when anything fails, and leaves no process or file', async () => {
    const demo = startDemo(['--once'], { MIN_SOLVER_BOND: '1000000000000' })
    expect(await demo.exited).toBe(1)
    expect(demo.output()).toContain('BOND_INSUFFICIENT')
    await nothingIsLeft(demo)
  })

  it('reports which usual ports are taken, and prints commands that work with its own ports', async () => {
    const demo = startDemo([])
    await demo.waitFor(/The accounts, with/)
    const [, beginning = ''] = /^Starting [^\n]*\n((?: {3}[^\n]*\n)+)/.exec(demo.output()) ?? []
    for (const port of heldPorts()) {
      const [, url = ''] = new RegExp(`port ${port} is taken: the .* is at (\\S+)`).exec(beginning) ?? []
      expect(new URL(url).port, beginning).not.toBe(String(port))
    }
    const [, ...tries] = demo.output().split('Try:\n')
    const commands = [...tries.join().matchAll(/^ {3}(curl .*)$/gm)].map(([, command = '']) => command)
    expect(commands).toHaveLength(2)
    const [health, stream = ''] = commands
    const run = async (command = '') =>
      JSON.parse((await promisify(execFile)('bash', ['-c', command])).stdout)
    expect(await run(health)).toMatchObject({ status: 'ok' })
    const following = startProcess('bash', ['-c', stream], {}, { ownGroup: true })
    await following.waitFor(/"type":"connected"/)
    process.kill(-(following.child.pid ?? 0), 'SIGKILL')
    const [, docs = ''] = /^ {3}(\S+\/docs) in a browser$/m.exec(demo.output()) ?? []
    expect((await fetch(docs)).headers.get('content-type')).toMatch(/^text\/html/)
    process.kill(-(demo.child.pid ?? 0), 'SIGINT')
    expect(await demo.exited).toBe(0)
    await nothingIsLeft(demo)
  })

  it('serves at the port of --port', async () => {
    const free = await occupy(0)
    const { port } = free.address() as AddressInfo
    const refused = startDemo(['--port', String(port)])
    expect(await refused.exited).toBe(2)
    expect(refused.output()).toContain(`--port is ${port}: it is taken`)
    free.close()
    const demo = startDemo(['--port', String(port)])
    await demo.waitFor(new RegExp(`service {5}http://127.0.0.1:${port}`))
    process.kill(-(demo.child.pid ?? 0), 'SIGINT')
    expect(await demo.exited, demo.output()).toBe(0)
  })

  it('says that it loads before it has read its sources', async () => {
    const demo = startProcess('npm', ['run', '--silent', 'demo', '--', '--help'], {}, { ownGroup: true })
    expect(await demo.exited).toBe(0)
    expect(demo.output()).toMatch(/^The demo loads, .*\nUsage: quote-aggregator demo \[options\]\n/)
  })

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'ends with its chain and service when npm alone gets %s',
    async (signal) => {
      const demo = startProcess('npm', ['run', '--silent', 'demo'], { CONSOLE: 'false' }, { ownGroup: true })
      await demo.waitFor(/^1\. Sell/m)
      demo.signal(signal)
      await demo.exited
      await nothingIsLeft(demo)
    },
  )
})
