import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { revertOf } from '../../support/chain/contract-calls.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import { type Market, startMarket } from '../../support/solver-kit/market.js'

const [account] = solverAccounts

let market: Market

beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market?.close())

it('a quote that is cancelled can be neither deposited nor settled, also after a restart', async () => {
  const stateFile = temporaryFile()
  const solver = market.solver({ stateFile })
  await solver.start()
  const [kept, offer] = [await market.quote(), await market.quote()]
  const selects = ({ orderId }: { orderId: string }) => orderId === offer.orderId
  const before = await market.countTransactions(account)
  expect(await solver.cancelQuotes(market.chain.chainId, selects)).toEqual([
    { orderId: offer.orderId, outcome: 'CANCELLED' },
  ])
  expect(await market.calls.view.isNonceUsed([account.address, BigInt(offer.quote.nonce)])).toBe(true)
  expect(solver.metrics().openQuotes).toBe(1)
  expect((await revertOf(market.deposit(offer)))?.[0]).toBe('NonceAlreadyUsed')
  await market.payAddress(offer)
  await solver.close()
  const second = market.solver({ stateFile })
  await second.start()
  await market.deposit(kept)
  // The deposit of the cancelled quote was there before this one.
  expect(await market.settlements(kept.orderId)).toBe(1)
  expect((await market.countTransactions(account)) - before).toBe(2)
  expect((await market.calls.view.orders([offer.orderId]))[8]).toBe(0)
  expect([solver.errors, second.errors, second.metrics().missed]).toEqual([[], [], 0])
})

it.each(['CONTRACT', 'ADDRESS'])(
  'a quote whose deposit by %s came first is taken, and its order is filled',
  async (mode) => {
    const { opened: released, open: release } = deferred()
    const solver = market.solver({ fill: async (order) => released.then(() => order.fill()) })
    await solver.start()
    const offer = await market.quote()
    await (mode === 'CONTRACT' ? market.deposit(offer) : market.payAddress(offer))
    const before = await market.countTransactions(account)
    expect(await solver.cancelQuotes(market.chain.chainId)).toEqual([
      { orderId: offer.orderId, outcome: 'TAKEN' },
    ])
    expect(await market.countTransactions(account)).toBe(before)
    release()
    expect(await market.settlements(offer.orderId)).toBe(1)
  },
)

it('a quote that is deposited while its cancellation waits is filled', async () => {
  const { chainId } = market.chain
  const { [chainId]: usual } = market.solverOptions().chains
  if (usual === undefined) throw new Error('no chain')
  const solver = market.solver({ chains: { [chainId]: { ...usual, raiseFeesAfterMs: 2_000 } } })
  await solver.start()
  const offer = await market.quote()
  const { client } = market.calls
  await client.setAutomine(false)
  onTestFinished(() => client.setAutomine(true))
  const cancelled = solver.cancelQuotes(chainId)
  const [waiting] = await eventually(
    () => market.pendingOf(account),
    (pending) => pending.length === 1,
  )
  const deposited = market.deposit(offer)
  await eventually(market.pendingCount, (count) => count === 2)
  // The node loses the cancellation until the deposit is mined.
  await client.dropTransaction({ hash: waiting?.hash ?? '0x' })
  await client.mine({ blocks: 1 })
  await deposited
  await client.setAutomine(true)
  expect(await market.settlements(offer.orderId)).toBe(1)
  expect(await cancelled).toEqual([{ orderId: offer.orderId, outcome: 'TAKEN' }])
  await expect.poll(() => solver.filled).toEqual([offer.orderId])
})
