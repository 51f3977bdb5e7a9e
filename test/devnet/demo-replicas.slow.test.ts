import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.js'
import { startProcess } from '../support/process/process.js'

/** Each of the tests starts a chain, a PostgreSQL and replicas from their sources. */
const TIMEOUT_MS = 90_000

const startDemo = (args: string[]) =>
  startProcess(process.execPath, ['--import', 'tsx', 'src/devnet/demo.ts', ...args], {}, { ownGroup: true })

/** Killed processes take a moment to end. An orphan would stay. */
const nothingIsLeft = (demo: ReturnType<typeof startProcess>) =>
  eventually(
    async () => demo.leftSomething(),
    (isLeft) => !isLeft,
  )

describe('npm run demo -- --replicas', { timeout: TIMEOUT_MS }, () => {
  it('continues its story after the leader of the chain is killed, and ends all its processes on Ctrl-C', async () => {
    const demo = startDemo(['--replicas', '3'])
    await demo.waitFor(/\n {3}replica 3 http\S+ \(kill -9 \d+\)\n/)
    // As Ctrl-C does.
    process.kill(-(demo.child.pid ?? 0), 'SIGINT')
    expect(await demo.exited, demo.output()).toBe(0)
    const output = demo.output()
    const urls = output.match(/(?<=^ {3}replica \d {3})http:\/\/127\.0\.0\.1:\d+$/gm)
    expect(new Set(urls).size).toBe(3)
    expect(output).toContain('replica 1 is the leader of the chain, and notifies the others')
    // Its session is at replica 1 until that is killed, then at another one; each quote is at another replica.
    expect(output.match(/^ {3}Cosmo .* USDC for .* WETH/gm)).toHaveLength(3)

    const events = [...output.matchAll(/^ {3}event {4}(\w+) (0x\w+) in block \d+, sent by replica (\d)$/gm)]
    const types = events.map(([, type]) => type)
    expect(types).toEqual(['Settled', 'Deposited', 'Settled', 'Deposited', 'Refunded'])
    const orderIds = events.map(([, , orderId]) => orderId)
    const [bought, sold, , lost] = orderIds
    expect(orderIds).toEqual([bought, sold, sold, lost, lost])
    expect(new Set(orderIds).size).toBe(3)
    const replicas = events.map(([, , , replica]) => replica)
    expect(replicas[0]).toBe('1')
    expect(replicas.slice(2)).toEqual(['2', '2', '2'])

    const positions = [
      `deposited: order ${sold}`,
      'replica 1 is killed (kill -9 ',
      'the event stream goes on at replica 2 from its cursor',
      `event    Settled ${sold}`,
      `deposited: order ${lost}, while Aldous is asleep`,
      "the WETH is back, with 124.9375 bUSD of Aldous's bond",
      'The chain has 5 events of orders; 5 were received, each once and in order',
      'replica 3 lists the solvers Aldous, Beatrix',
      'replica 1 is started again',
    ].map((line) => output.indexOf(line))
    expect(positions).not.toContain(-1)
    expect(positions).toEqual(positions.toSorted((a, b) => a - b))
    const [, afterSeconds] = /replica [23] is the leader of the chain, (\d+\.\d) s later/.exec(output) ?? []
    expect(Number(afterSeconds)).toBeLessThan(5)
    expect(output).not.toMatch(/failed|is lost|ended by itself|error/i)
    await nothingIsLeft(demo)
  })
})
