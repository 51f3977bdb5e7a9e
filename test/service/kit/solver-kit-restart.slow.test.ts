import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { openState } from '../../../packages/solver/src/state.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { eventually } from '../../support/eventually.js'
import { startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startProcess } from '../../support/process/process.js'
import { type Market, startMarket } from '../../support/solver-kit/market.js'

const [account] = solverAccounts

let market: Market

beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market?.close())

/** A solver as a process. It is started with the state that an earlier one has left. */
async function startSolver(
  stateFile: string,
  { rpc = market.chain.devnet.rpcUrl, behaviour = '', raiseFeesAfterMs = 15_000 } = {},
) {
  const { chains, ...options } = market.solverOptions()
  const { chainId } = market.chain
  const terms = { ...chains[chainId], rpc, raiseFeesAfterMs }
  const given = { ...options, stateFile, chains: { [chainId]: terms } }
  const args = ['test/support/solver-kit/solver-process.ts', JSON.stringify(given), behaviour]
  const solver = startProcess(process.execPath, ['--import', 'tsx', ...args], {})
  await solver.waitFor(/^started$/m)
  return {
    ...solver,
    async kill() {
      solver.signal('SIGKILL')
      await solver.exited
    },
  }
}

it.each(['CONTRACT', 'ADDRESS'])(
  'an order by %s that is deposited while the solver is dead is paid once after its restart',
  async (mode) => {
    const stateFile = temporaryFile()
    const first = await startSolver(stateFile)
    const offer = await market.quote()
    await first.kill()
    const before = await market.countTransactions(account)
    await (mode === 'CONTRACT' ? market.deposit(offer) : market.payAddress(offer))
    // More than are read again at each poll.
    await market.calls.client.mine({ blocks: 20 })
    const second = await startSolver(stateFile)
    expect(await market.settlements(offer.orderId)).toBe(1)
    await second.waitFor(new RegExp(`filled ${offer.orderId}`))
    expect((await market.countTransactions(account)) - before).toBe(1)
    await second.kill()
  },
)

it.each(['CONTRACT', 'ADDRESS'])(
  'an order by %s is paid once by a solver that is killed between deposit and payment',
  async (mode) => {
    const stateFile = temporaryFile()
    const first = await startSolver(stateFile, { behaviour: 'hang' })
    const offer = await market.quote()
    await (mode === 'CONTRACT' ? market.deposit(offer) : market.payAddress(offer))
    await first.waitFor(new RegExp(`holds ${offer.orderId}`))
    await first.kill()
    const before = await market.countTransactions(account)
    const second = await startSolver(stateFile)
    expect(await market.settlements(offer.orderId)).toBe(1)
    expect((await market.countTransactions(account)) - before).toBe(1)
    await second.kill()
  },
)

it('a payment that waits to be mined when the solver is killed is found again, and not repeated', async () => {
  const stateFile = temporaryFile()
  const first = await startSolver(stateFile)
  const offer = await market.quote()
  const { client } = market.calls
  await client.setAutomine(false)
  onTestFinished(() => client.setAutomine(true))
  const before = await market.countTransactions(account)
  const deposited = market.deposit(offer)
  await eventually(market.pendingCount, (count) => count === 1)
  await client.mine({ blocks: 1 })
  await deposited
  await eventually(market.pendingCount, (count) => count === 1)
  await first.kill()
  const second = await startSolver(stateFile)
  expect(await market.pendingCount()).toBe(1)
  await client.mine({ blocks: 1 })
  await second.waitFor(new RegExp(`filled ${offer.orderId}`))
  expect(await market.settlements(offer.orderId)).toBe(1)
  expect((await market.countTransactions(account)) - before).toBe(1)
  // A second payment would revert.
  expect(second.output()).not.toContain('error')
  await second.kill()
})

it('a payment whose fees were raised before the solver is killed goes on after it, and is made once', async () => {
  const stateFile = temporaryFile()
  const first = await startSolver(stateFile, { raiseFeesAfterMs: 300 })
  const offer = await market.quote()
  const { client } = market.calls
  await client.setAutomine(false)
  onTestFinished(() => client.setAutomine(true))
  const before = await market.countTransactions(account)
  const deposited = market.deposit(offer)
  await eventually(market.pendingCount, (count) => count === 1)
  await client.mine({ blocks: 1 })
  await deposited
  const feeOf = async () => (await market.pendingOf(account))[0]?.maxFeePerGas ?? 0n
  const fee = await eventually(feeOf, (seen) => seen > 0n)
  const raised = await eventually(feeOf, (seen) => seen > fee)
  await first.kill()
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas: 20n * raised })
  await client.mine({ blocks: 1 })
  expect(await market.countTransactions(account)).toBe(before)
  const second = await startSolver(stateFile, { raiseFeesAfterMs: 300 })
  await eventually(
    async () => {
      await client.mine({ blocks: 1 })
      return second.output()
    },
    (output) => output.includes(`filled ${offer.orderId}`),
  )
  expect(await market.settlements(offer.orderId)).toBe(1)
  expect((await market.countTransactions(account)) - before).toBe(1)
  expect(second.output()).not.toContain('error')
  await second.kill()
})

it('a payment that was signed, and not sent, when the solver is killed is sent once after its restart', async () => {
  const stateFile = temporaryFile()
  const proxy = await startRpcProxy(market.chain.devnet.rpcUrl)
  onTestFinished(() => proxy.close())
  let isSent = () => {}
  const reached = new Promise<void>((resolve) => {
    isSent = resolve
  })
  const first = await startSolver(stateFile, { rpc: proxy.url })
  proxy.intercept(async ({ method }, pass) => {
    if (method !== 'eth_sendRawTransaction') return pass()
    isSent()
    return new Promise(() => {})
  })
  const before = await market.countTransactions(account)
  const offer = await market.quote()
  await market.deposit(offer)
  await reached
  await first.kill()
  expect(await market.countTransactions(account)).toBe(before)
  const second = await startSolver(stateFile)
  expect(await market.settlements(offer.orderId)).toBe(1)
  await second.waitFor(new RegExp(`filled ${offer.orderId}`))
  expect((await market.countTransactions(account)) - before).toBe(1)
  await second.kill()
})

it('a payment whose transaction was replaced is made again', async () => {
  const stateFile = temporaryFile()
  const first = await startSolver(stateFile, { behaviour: 'hang' })
  const offer = await market.quote()
  await market.deposit(offer)
  await first.waitFor(new RegExp(`holds ${offer.orderId}`))
  await first.kill()
  const state = openState(stateFile)
  const nonce = (await market.countTransactions(account)) - 1
  // A transaction that is lost, and whose nonce another one has.
  const lost = { hash: `0x${'12'.repeat(32)}`, raw: '0x12', nonce } as const
  state.addAttempt(offer.orderId, market.chain.chainId, lost)
  state.close()
  const second = await startSolver(stateFile)
  expect(await market.settlements(offer.orderId)).toBe(1)
  await second.kill()
})

it('two processes cannot have one state', () => {
  const stateFile = temporaryFile()
  const state = openState(stateFile)
  expect(() => openState(stateFile)).toThrow('another process has it')
  state.close()
  openState(stateFile).close()
})
