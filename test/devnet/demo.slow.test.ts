import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../service/eventually.js'
import { startProcess } from '../service/process.js'

const USUAL_PORTS = [8545, 3000, 4001]

let occupants: Server[]

beforeAll(async () => {
  occupants = await Promise.all(USUAL_PORTS.map(occupy))
})
afterAll(() => {
  for (const server of occupants) server.close()
})

/** The loader that runs TypeScript ends its own child a moment after the process; an orphan would stay. */
const nothingIsLeft = (demo: ReturnType<typeof startProcess>) =>
  eventually(
    async () => demo.leftSomething(),
    (isLeft) => !isLeft,
  )

/** Listens on a port unless somebody does already: taken it is in either case. */
async function occupy(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve).once('error', resolve))
  return server
}

/** The ports that this test itself keeps taken all the time. */
function heldPorts(): number[] {
  return USUAL_PORTS.filter((_, index) => occupants[index]?.listening)
}

const startDemo = (args: string[], environment = {}) =>
  startProcess(process.execPath, ['--import', 'tsx', 'src/devnet/demo.ts', ...args], environment, {
    ownGroup: true,
  })

describe.concurrent('npm run demo', { timeout: 60_000 }, () => {
  it('plays its story on free ports, exits with 0 and leaves nothing behind', async () => {
    const demo = startDemo(['--once'])
    expect(await demo.exited, demo.output()).toBe(0)
    const ports = [...demo.output().matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port))
    for (const port of heldPorts()) expect(ports).not.toContain(port)
    const states = demo.output().match(/^ {3}(DEPOSITED|SETTLED|REFUNDED)$/gm)
    expect(states?.map((line) => line.trim())).toEqual(['SETTLED', 'SETTLED', 'DEPOSITED', 'REFUNDED'])
    const events = demo.output().match(/(?<=^ {3}event {4})\w+/gm)
    expect(events).toEqual(['Deposited', 'Settled', 'Settled', 'Deposited', 'Refunded'])
    expect(demo.output()).toContain("the WETH is back, with 124.9375 bUSD of Aldous's bond")
    await nothingIsLeft(demo)
  })

  it('ends on Ctrl-C in the middle of it, which reaches the chain as well, and leaves nothing behind', async () => {
    const demo = startDemo([])
    await demo.waitFor(/deposited: order/)
    process.kill(-(demo.child.pid ?? 0), 'SIGINT')
    expect(await demo.exited).toBe(0)
    expect(demo.output()).not.toMatch(/failed|is lost|error/i)
    await nothingIsLeft(demo)
  })

  it('exits with 1 when anything goes wrong, and leaves nothing behind', async () => {
    const demo = startDemo(['--once'], { MIN_SOLVER_BOND: '1000000000000' })
    expect(await demo.exited).toBe(1)
    expect(demo.output()).toContain('BOND_INSUFFICIENT')
    await nothingIsLeft(demo)
  })

  it('says how it is used when it is used otherwise', async () => {
    const demo = startDemo(['--twice'])
    expect(await demo.exited).toBe(2)
    expect(demo.output()).toContain('npm run demo -- --once')
  })
})
