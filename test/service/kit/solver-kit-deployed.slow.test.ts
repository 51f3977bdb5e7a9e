import { afterAll, beforeAll, expect, it } from 'vitest'
import { user } from '../../support/chain/chain.js'
import { deferred } from '../../support/deferred.js'
import { type Market, startMarket } from '../../support/solver-kit/market.js'
import { contractStruct } from '../../support/solvers/solver.js'

let market: Market

beforeAll(async () => {
  market = await startMarket({}, 'deployed')
})
afterAll(() => market?.close())

async function passTo(seconds: number): Promise<void> {
  await market.calls.client.setNextBlockTimestamp({ timestamp: BigInt(seconds) })
  await market.calls.client.mine({ blocks: 1 })
}

it('an order whose bond the contract has released cannot be filled, and the error names it', async () => {
  const { opened: released, open: release } = deferred()
  const solver = market.solver({
    mayFill: () => released.then(() => true),
  })
  await solver.start()
  const { timestamp } = await market.calls.client.getBlock()
  const ahead = Math.max(0, Number(timestamp) - Math.floor(Date.now() / 1000))
  const other = await market.quote({ depositWindow: ahead + 60, depositMode: 'ADDRESS' })
  const offer = await market.quote({ depositWindow: ahead + 1_000 })
  await market.deposit(offer)
  await expect.poll(() => solver.metrics().deposits).toBe(1)
  // In the first block after the deposit deadline: too late for `settle`, and kept for its user.
  const timestampAfter = BigInt(other.quote.depositDeadline) + 1n
  await market.calls.client.setNextBlockTimestamp({ timestamp: timestampAfter })
  await market.payAddress(other)
  await passTo(Number(other.quote.fillDeadline) + 1)
  const struct = contractStruct(other.quote)
  await market.calls.send(user, 'refundAddressDeposit', [struct, other.solverSignature])
  release()
  await expect
    .poll(() => solver.errors.map((error) => (error as Error).message))
    .toContain(
      `order ${offer.orderId} cannot be filled: the contract has released the bond that was reserved for it (Panic 17)`,
    )
})
