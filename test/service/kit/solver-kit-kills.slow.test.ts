import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readStatement } from '../../../packages/solver/src/statement.js'
import { between } from '../../support/between.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { eventually } from '../../support/eventually.js'
import { startProcess } from '../../support/process/process.js'
import { type Market, type Offer, startMarket } from '../../support/solver-kit/market.js'

const ORDERS = 50
const LONGEST_LIFE_MS = 400
/** A busy machine takes minutes for all lives, and the kit ends what was not deposited in time. */
const WINDOW_SECONDS = 3_000
const [account] = solverAccounts

let market: Market

beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market?.close())

/** A solver as a process, with the state that the earlier ones have left. */
function startSolver(stateFile: string) {
  const { chains, ...others } = market.solverOptions()
  const { chainId } = market.chain
  const terms = { ...chains[chainId], raiseFeesAfterMs: 100, maxPayments: 3 }
  const options = JSON.stringify({ ...others, stateFile, chains: { [chainId]: terms } })
  const args = ['--import', 'tsx', 'test/service/kit/solver-process.ts', options]
  return startProcess(process.execPath, args, {})
}

/** How many transactions of the account were mined. */
const countMinedOf = () => market.calls.client.getTransactionCount({ address: account.address })

/** How many of them wait to be mined. */
async function countPending(): Promise<number> {
  const block = { blockTag: 'pending', includeTransactions: true } as const
  const { transactions } = await market.calls.client.getBlock(block)
  return transactions.filter(({ from }) => from.toLowerCase() === account.address.toLowerCase()).length
}

async function payAddresses(offers: readonly Offer[]): Promise<void> {
  for (const offer of offers) await market.payAddress(offer)
}

/** What the account has, in wei and in the smallest units of both tokens. */
async function holdings(): Promise<readonly bigint[]> {
  const { weth, usdc } = market.chain.contracts
  const { address } = account
  const balances = [weth, usdc].map((token) => market.calls.balanceOf(token, address))
  return Promise.all([market.calls.client.getBalance({ address }), ...balances])
}

/** What the books say that it has got, less what it has paid. */
function bookedChange(stateFile: string) {
  const { trades, transactions, cancelled } = readStatement(stateFile, 0, Number.MAX_SAFE_INTEGER)
  const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
  const fees = sum(transactions.map(({ gasCost }) => gasCost))
  const [got, paid] = [
    trades.map(({ inputAmount }) => inputAmount),
    trades.map(({ outputAmount }) => outputAmount),
  ]
  return { change: [-fees, sum(got), -sum(paid)], counts: [trades.length, cancelled.length] }
}

it('a solver that is killed again and again while it pays sends one payment for each order, and books it', async () => {
  const stateFile = temporaryFile()
  const atFirst = await holdings()
  const first = startSolver(stateFile)
  await first.waitFor(/^started$/m)
  const offers = []
  for (let index = 0; index < ORDERS; index++)
    offers.push(await market.quote({ depositWindow: WINDOW_SECONDS }))
  first.signal('SIGKILL')
  await first.exited
  const before = await countMinedOf()
  const countMined = async () => (await countMinedOf()) - before
  const waiting = [...offers]
  const { client } = market.calls
  // Kills while payments waited to be mined, and while orders had no payment yet.
  const kills = { whilePaying: 0, beforePayment: 0 }
  for (let life = 0; waiting.length > 0; life++) {
    // In every other life, payments wait when it is killed, some of them with raised fees, however slow the machine is.
    const isHeld = life % 2 === 0
    const [early, late] = [waiting.splice(0, 2), waiting.splice(0, 2)]
    let solver = isHeld ? undefined : startSolver(stateFile)
    // In the other lives these come while it starts, and the next ones while it pays.
    for (const offer of early) await market.deposit(offer)
    if (isHeld) {
      await payAddresses(late)
      await client.setAutomine(false)
    }
    solver ??= startSolver(stateFile)
    await solver.waitFor(/^started$/m)
    const deposits = isHeld ? undefined : payAddresses(late)
    if (isHeld) await eventually(countPending, (count) => count > 0)
    await delay(Math.random() * LONGEST_LIFE_MS)
    solver.signal('SIGKILL')
    await Promise.all([solver.exited, deposits])
    const mined = await countMined()
    const pending = await countPending()
    if (pending > 0) kills.whilePaying++
    if (mined + pending < ORDERS - waiting.length) kills.beforePayment++
    await client.setAutomine(true)
    await client.mine({ blocks: 1 })
  }
  const last = startSolver(stateFile)
  for (const { orderId } of offers) expect(await market.settlements(orderId)).toBe(1)
  expect(await countMined()).toBe(ORDERS)
  expect(last.output()).not.toContain('error')
  await last.waitFor(/^started$/m)
  // Nobody takes this one, and its cancellation costs.
  await market.quote({ depositWindow: 30 })
  await client.increaseTime({ seconds: 60 })
  await client.mine({ blocks: 2 })
  await eventually(
    async () => bookedChange(stateFile),
    ({ counts }) => counts.join() === `${ORDERS},1`,
  )
  const atLast = await holdings()
  const { change } = bookedChange(stateFile)
  expect(atLast.map((amount, index) => amount - (atFirst[index] ?? 0n))).toEqual(change)
  expect(kills).toEqual({ whilePaying: between(3, ORDERS), beforePayment: between(3, ORDERS) })
}, 600_000)
