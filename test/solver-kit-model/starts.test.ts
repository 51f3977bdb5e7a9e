import { expect, it, onTestFinished, vi } from 'vitest'
import { devAccounts } from '../../packages/cli/src/devnet/deploy.js'
import type { SolverOptions } from '../../packages/solver/src/solver-options.js'
import { keyOf } from '../support/solver-kit/market.js'
import { registerAll } from './running-solver.js'
import { createWorld, SETTLEMENT, SOLVER } from './world.js'

/** Blocks after which a start has ended. */
const SOON = 20

/** A chain that has a block every two seconds, for solvers that may not start. */
function createStarts() {
  registerAll()
  const world = createWorld('reference')
  async function passBlocks(isEnough = () => false, most = SOON): Promise<void> {
    for (let block = 0; block < most && !isEnough(); block++) await world.passBlocks(1)
  }
  return {
    ...world,
    passBlocks,
    async start(options: Partial<SolverOptions> = {}) {
      const incarnation = world.start(options)
      onTestFinished(() => world.kill(incarnation))
      await incarnation.node.asked
      return incarnation
    },
  }
}

it('a start whose node fails while an approval waits says what the node has said', async () => {
  const { chain, clock, passBlocks, start } = createStarts()
  const incarnation = await start()
  while (chain.pendingCount() === chain.countOf(SOLVER)) await clock.advance(10)
  incarnation.node.setState('down')
  await passBlocks(() => incarnation.progress === 'failed')
  expect(incarnation.errors.map(String).join()).toMatch(
    /must be able to approve 0x\w{40} on chain 31337: .*the node is down/s,
  )
})

it('a state file of another account is refused, so that no open quote is forgotten', async () => {
  const { kill, passBlocks, start } = createStarts()
  const first = await start()
  await passBlocks(() => first.progress === 'started')
  kill(first)
  const second = await start({ account: keyOf(devAccounts[2]) })
  await passBlocks(() => second.progress !== 'starting')
  expect([second.progress, second.errors.join()]).toEqual([
    'failed',
    expect.stringContaining(`the stateFile has what was signed by ${SOLVER} for ${SETTLEMENT}`),
  ])
})

it('a start ends without an error when the solver is closed meanwhile, and warns without a state file', async () => {
  const { passBlocks, start } = createStarts()
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed')))
  const warn = vi.fn()
  const log = { debug() {}, info() {}, warn, error() {} }
  const incarnation = await start({ stateFile: undefined, log })
  await passBlocks(() => incarnation.errors.length > 0)
  expect(incarnation.progress).toBe('starting')
  await incarnation.solver.close()
  expect(incarnation.progress).toBe('started')
  expect(warn.mock.calls.map(([, text]) => text)).toContainEqual(expect.stringContaining('without stateFile'))
})
