import { type Hex, parseGwei } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { deployedSettlementAbi } from '../../../gen/contracts/deployed-settlement.js'
import { createDevnetClient } from '../../../packages/cli/src/devnet/deploy.js'
import { readStatement } from '../../../packages/solver/src/statement.js'
import { between } from '../../support/between.js'
import { type Rules, solverAccounts, startChain, user } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { OrderState } from '../../support/chain/settlement.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { eventually } from '../../support/eventually.js'
import { startProcess } from '../../support/process/process.js'
import { startService, type TestService } from '../../support/service/service.js'
import { WETH_UNIT } from '../../support/solver-kit/fixed-price.js'
import { keyOf, type Offer } from '../../support/solver-kit/market.js'
import { contractStruct } from '../../support/solvers/solver.js'

const [account] = solverAccounts
const FUNDS = 10n ** 30n
/** Longer than all that comes before it takes, on a busy machine. */
const DEPOSIT_WINDOW = 3_000

type Market = Awaited<ReturnType<typeof openMarket>>
type Side = 'weth' | 'usdc'

/** A chain on which the solver and the user have both tokens. */
async function openMarket(chainId: number, rules: Rules) {
  const { contracts, devnet, stop } = await startChain({ chainId, bonded: 1, rules })
  const { settlement, weth, usdc } = contracts
  const calls = createCalls(devnet, settlement)
  const { client, balanceOf } = calls
  for (const token of [weth, usdc]) {
    for (const { address } of [user, account]) await calls.mint(token, address, FUNDS)
    await calls.approve(token, user, 2n ** 256n - 1n)
  }
  const read = async () => [
    await client.getBalance({ address: account.address }),
    await balanceOf(weth, account.address),
    await balanceOf(usdc, account.address),
    (await calls.view.solvers([account.address]))[0],
  ]
  const before = await read()
  const waitForPending = (count: number) =>
    eventually(
      async () => (await client.getTxpoolStatus()).pending,
      (pending) => pending === count,
    )
  return {
    chainId,
    devnet,
    contracts,
    calls,
    stop,
    waitForPending,
    /** From now on, the test mines. @returns when the input is there, and its payment waits */
    async holdPayment(paying: () => Promise<unknown>) {
      await client.setAutomine(false)
      const paid = paying()
      await waitForPending(1)
      await client.mine({ blocks: 1 })
      await paid
      await waitForPending(1)
    },
    async mineAgain() {
      await client.mine({ blocks: 1 })
      await client.setAutomine(true)
    },
    deposit: ({ quote, solverSignature }: Offer) =>
      calls.send(user, 'deposit', [contractStruct(quote), solverSignature]),
    payAddress: ({ quote, depositAddress }: Offer) =>
      calls.transfer(quote.inputToken as Hex, user, depositAddress, BigInt(quote.inputAmount)),
    stateOf: async (orderId: Hex) => (await calls.view.orders([orderId]))[8],
    /** What the solver's coin, both tokens and the bond have changed by. */
    changes: async () => (await read()).map((now, index) => now - (before[index] ?? 0n)),
  }
}

let markets: [Market, Market]
let service: TestService

beforeAll(async () => {
  markets = [await openMarket(31337, 'reference'), await openMarket(31338, 'deployed')]
  service = await startService(markets)
})
afterAll(async () => {
  await service?.close()
  for (const { stop } of markets ?? []) await stop()
})

async function quote({ chainId, contracts }: Market, sold: Side, depositMode = 'CONTRACT'): Promise<Offer> {
  const { status, body } = await service.post(`/v1/${chainId}/quote`, {
    originChainId: chainId,
    destinationChainId: chainId,
    inputToken: contracts[sold],
    outputToken: contracts[sold === 'weth' ? 'usdc' : 'weth'],
    orderType: 'EXACT_INPUT',
    amount: String(WETH_UNIT),
    userAddress: user.address,
    depositMode,
    depositWindow: DEPOSIT_WINDOW,
  })
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

function startSolver(stateFile: string) {
  const chains = Object.fromEntries(
    markets.map(({ chainId, devnet, contracts: { settlement, weth, usdc } }) => [
      chainId,
      { rpc: devnet.rpcUrl, settlement, tokens: [weth, usdc], pollIntervalMs: 50 },
    ]),
  )
  const options = { account: keyOf(account), name: 'Dora', aggregatorUrl: service.url, chains, stateFile }
  const script = 'test/service/kit/solver-process.ts'
  return startProcess(process.execPath, ['--import', 'tsx', script, JSON.stringify(options)], {})
}

/** The changes that the books explain. */
function booked(stateFile: string, { chainId, contracts: { weth, usdc } }: Market): bigint[] {
  const { fees, tokens, pairs } = readStatement(stateFile, 0, Number.MAX_SAFE_INTEGER)
  const sum = <T extends { chainId: number }>(list: readonly T[], amountOf: (item: T) => bigint) =>
    list.filter((item) => item.chainId === chainId).reduce((total, item) => total + amountOf(item), 0n)
  const change = (of: Hex) =>
    sum(tokens, ({ token, received, paid }) =>
      token.toLowerCase() === of.toLowerCase() ? received - paid : 0n,
    )
  return [-sum(fees, ({ gasCost }) => gasCost), change(weth), change(usdc), -sum(pairs, ({ cost }) => cost)]
}

it('the books of two pairs on two chains agree with both to the last wei, and no hedge is left open', async () => {
  const stateFile = temporaryFile()
  const first = startSolver(stateFile)
  await first.waitFor(/^started$/m)

  for (const market of markets) {
    for (const sold of ['weth', 'usdc'] as const) {
      const [atContract, atAddress] = [await quote(market, sold), await quote(market, sold, 'ADDRESS')]
      await market.deposit(atContract)
      await market.payAddress(atAddress)
      for (const { orderId } of [atContract, atAddress])
        await first.waitFor(new RegExp(`^filled ${orderId}`, 'm'))
    }
    // Somebody else settles in the same block: the payment of the solver reverts. So may that of a deposit that goes.
    const contested = await quote(market, 'weth', 'ADDRESS')
    await market.holdPayment(() => market.payAddress(contested))
    await createDevnetClient(market.devnet, user).writeContract({
      account: user,
      chain: null,
      address: market.contracts.settlement,
      abi: deployedSettlementAbi,
      functionName: 'settle',
      args: [contractStruct(contested.quote), contested.solverSignature],
      gas: 2_000_000n,
      maxFeePerGas: parseGwei('500'),
      maxPriorityFeePerGas: parseGwei('100'),
    })
    await market.waitForPending(2)
    await market.mineAgain()
    await first.waitFor(new RegExp(`^filled ${contested.orderId}`, 'm'))
  }

  // A reorganisation removes a deposit and its payment.
  const [reorganised] = markets
  const { client } = reorganised.calls
  const removed = await quote(reorganised, 'usdc')
  const id = await client.snapshot()
  await reorganised.deposit(removed)
  await first.waitFor(new RegExp(`^filled ${removed.orderId}`, 'm'))
  await client.revert({ id })
  await client.mine({ blocks: 3 })
  await first.waitFor(new RegExp(`^removed ${removed.orderId}`, 'm'))

  // It is killed while payments wait, and is gone until others are too late.
  const missed: [Market, Offer][] = []
  for (const market of markets) {
    await quote(market, 'weth')
    missed.push([market, await quote(market, 'usdc')])
    const waiting = await quote(market, 'weth')
    await market.holdPayment(() => market.deposit(waiting))
  }
  first.signal('SIGKILL')
  await first.exited
  for (const [market, offer] of missed) {
    await market.mineAgain()
    await market.deposit(offer)
    await market.calls.client.increaseTime({ seconds: 2 * DEPOSIT_WINDOW })
    await market.calls.client.mine({ blocks: 2 })
    await market.calls.send(user, 'refund', [offer.orderId])
  }
  const second = startSolver(stateFile)
  const counts = () => {
    const { trades, missed, cancelled } = readStatement(stateFile, 0, Number.MAX_SAFE_INTEGER)
    return [trades, missed, cancelled].map(({ length }) => length)
  }
  const compared = async () => ({
    counts: counts(),
    chains: await Promise.all(markets.map(({ changes }) => changes())),
    books: markets.map((market) => booked(stateFile, market)),
  })
  // Of the chain with the reorganisation, the quote that was deposited before it is cancelled too.
  const { chains, books } = await eventually(
    compared,
    ({ counts, chains, books }) => counts.join() === '12,2,3' && String(chains) === String(books),
  )
  expect(books).toEqual(chains)
  expect(chains.flat()).not.toContain(0n)

  const { fees } = readStatement(stateFile, 0, Number.MAX_SAFE_INTEGER)
  for (const { chainId } of markets) {
    const of = (wanted: string) => fees.find((sum) => sum.chainId === chainId && sum.purpose === wanted)
    expect([of('APPROVAL')?.transactions, of('PAYMENT')?.reverted]).toEqual([2, between(1, 2)])
  }

  const last = new Map<string, string>()
  for (const [, what = '', orderId = ''] of `${first.output()}\n${second.output()}`.matchAll(
    /^(deposited|removed|filled|missed) (0x\w+)$/gm,
  ))
    last.set(orderId, what)
  expect([...last.values()].filter((what) => what === 'deposited')).toEqual([])
  expect(last.get(removed.orderId)).toBe('removed')
  for (const [orderId, what] of last) {
    const states = await Promise.all(markets.map(({ stateOf }) => stateOf(orderId as Hex)))
    expect(states.includes(OrderState.SETTLED)).toBe(what === 'filled')
  }
}, 600_000)
