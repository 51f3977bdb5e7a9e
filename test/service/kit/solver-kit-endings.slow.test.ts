import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RULES, solverAccounts, user } from '../../support/chain/chain.js'
import { OrderState } from '../../support/chain/settlement.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { eventually } from '../../support/eventually.js'
import { type Market, type Offer, startMarket } from '../../support/solver-kit/market.js'
import { contractStruct } from '../../support/solvers/solver.js'

const [account] = solverAccounts

describe.each(RULES)('on the %s contract', (rules) => {
  let market: Market

  beforeAll(async () => {
    market = await startMarket({}, rules)
  })
  afterAll(() => market?.close())

  const isUsed = ({ quote }: Offer) => market.calls.view.isNonceUsed([account.address, BigInt(quote.nonce)])
  const totalBond = async () => (await market.calls.view.solvers([account.address]))[0]

  /** The chain's clock goes on past a deadline. */
  async function passTo(seconds: number) {
    await market.calls.client.setNextBlockTimestamp({ timestamp: BigInt(seconds) })
    await market.calls.client.mine({ blocks: 1 })
  }

  /** A stranger brings the input late, and has the solver slashed if the contract allows it. */
  async function attack(offer: Offer) {
    await market.payAddress(offer)
    const struct = contractStruct(offer.quote)
    return market.calls.send(user, 'refundAddressDeposit', [struct, offer.solverSignature]).then(
      () => 'refunded',
      () => 'reverted',
    )
  }

  it('quotes that nobody took are cancelled after their deposit deadline, and cost no bond', async () => {
    const solver = market.solver()
    await solver.start()
    const before = await totalBond()
    const offers = [await market.quote(), await market.quote(), await market.quote()]
    expect(solver.metrics().openQuotes).toBe(3)
    const { depositDeadline, fillDeadline } = (offers[2] as Offer).quote
    await passTo(Number(depositDeadline) + 1)
    await eventually(
      async () => solver.metrics().openQuotes,
      (count) => count === 0,
    )
    expect(await Promise.all(offers.map(isUsed))).toEqual([true, true, true])
    await passTo(Number(fillDeadline) + 1)
    await attack(offers[0] as Offer)
    expect([await totalBond(), solver.errors]).toEqual([before, []])
  })

  it('a quote that a stopped solver left is ended first after the restart', async () => {
    const stateFile = temporaryFile()
    const first = market.solver({ stateFile })
    await first.start()
    const now = await market.calls.client.getBlock()
    const offer = await quoteAt(Number(now.timestamp))
    await first.close()
    await passTo(Number(offer.quote.depositDeadline) + 1)
    await market.solver({ stateFile }).start()
    await eventually(
      () => isUsed(offer),
      (used) => used,
    )
  })

  it('tokens at a deposit address are paid for in time, and an address without tokens is ended', async () => {
    const { timestamp } = await market.calls.client.getBlock()
    const solver = market.solver()
    await solver.start()
    const offer = await quoteAt(Number(timestamp), 'ADDRESS')
    await market.payAddress(offer)
    expect(await market.settlements(offer.orderId)).toBe(1)
    const late = await quoteAt(Number(timestamp), 'ADDRESS')
    const { depositDeadline, fillDeadline } = late.quote
    // Until then, a contract that may keep tokens is not to take those of a late transfer.
    await passTo(Math.floor((Number(depositDeadline) + Number(fillDeadline)) / 2) + 1)
    await eventually(
      () => isUsed(late),
      (used) => used,
    )
    expect((await market.calls.view.orders([late.orderId]))[8]).toBe(OrderState.NONE)
  })

  it('late tokens at a deposit address are not taken from a user where the contract would keep them', async () => {
    const { timestamp } = await market.calls.client.getBlock()
    const solver = market.solver()
    await solver.start()
    const offer = await quoteAt(Number(timestamp), 'ADDRESS')
    const before = await totalBond()
    await market.calls.client.setAutomine(false)
    const paid = market.payAddress(offer)
    await eventually(market.pendingCount, (count) => count === 1)
    // The tokens come with the first block after the deposit deadline.
    await passTo(Number(offer.quote.depositDeadline) + 1)
    await paid
    await market.calls.client.setAutomine(true)
    if (rules === 'reference') {
      expect(await market.settlements(offer.orderId)).toBe(1)
      return
    }
    await passTo(Number(offer.quote.fillDeadline) + 1)
    expect(await isUsed(offer)).toBe(false)
    const struct = contractStruct(offer.quote)
    await market.calls.send(user, 'refundAddressDeposit', [struct, offer.solverSignature])
    const lost = before - (await totalBond())
    expect(lost).toBe(BigInt(offer.quote.outputAmount) / 20n)
    // After its fill deadline, a quote that others may end is looked at once a minute.
    await passTo(Number(offer.quote.fillDeadline) + 120)
    await eventually(
      async () => solver.errors.map(String).join(),
      (words) => words.includes('declined there for 24 hours'),
    )
    const next = await market.calls.client.getBlock()
    const ahead = Math.max(0, Number(next.timestamp) - Math.floor(Date.now() / 1000))
    const window = { depositWindow: ahead + 120 }
    expect((await market.ask({ ...window, depositMode: 'ADDRESS' })).status).toBe(503)
    expect((await market.ask(window)).status).toBe(200)
  })

  /** A quote whose deadlines follow the chain's time, which tests have put ahead of this machine's. */
  async function quoteAt(chainTime: number, depositMode = 'CONTRACT'): Promise<Offer> {
    const ahead = Math.max(0, chainTime - Math.floor(Date.now() / 1000))
    return market.quote({ depositMode, depositWindow: ahead + 120 })
  }
})
