import { type Address, concatHex, type Hex, toFunctionSelector } from 'viem'
import { afterEach, describe, expect, it } from 'vitest'
import { revertOf } from '../../../../test/support/chain/contract-calls.js'
import { anyone, BOND, solver, startSettlement, user } from '../../../../test/support/chain/settlement.js'
import { shared } from '../../../../test/support/shared.js'

const chain = await shared(startSettlement())

afterEach(() => chain.reset())

/**
 * Code of a token that calls the settlement contract's `executeUnstake` at each call, and reverts when that
 * reverts. Without the guard the revert would be `NoUnstakeRequested`.
 */
function callsBackInto(settlement: Address): Hex {
  const selector = toFunctionSelector('executeUnstake()')
  const storeSelector = concatHex(['0x63', selector, '0x5f52'])
  const call = concatHex(['0x5f5f6004601c5f73', settlement, '0x5af1'])
  const revertWithReturnData = '0x3d5f5f3e3d5ffd'
  return concatHex([storeSelector, call, revertWithReturnData])
}

const turnHostile = (token: Address) =>
  chain.client.setCode({ address: token, bytecode: callsBackInto(chain.contracts.settlement) })

describe('a token that calls the contract again', () => {
  const guarded = ['ReentrancyGuardReentrantCall']

  it.each(['deposit', 'settle'] as const)('is stopped in %s', async (call) => {
    const { quote, signature } = await chain.fundedQuote()
    await turnHostile(chain.contracts.weth)
    expect(await revertOf(chain.send(user, call, [quote, signature]))).toEqual(guarded)
  })

  it('is stopped in fill', async () => {
    const { orderId } = await chain.depositedQuote()
    await turnHostile(chain.contracts.usdc)
    expect(await revertOf(chain.send(solver, 'fill', [orderId]))).toEqual(guarded)
  })

  it('is stopped in refund', async () => {
    const { quote, orderId } = await chain.depositedQuote()
    await turnHostile(chain.contracts.weth)
    await chain.nextBlockAt(quote.fillDeadline + 1)
    expect(await revertOf(chain.send(anyone, 'refund', [orderId]))).toEqual(guarded)
  })

  it('is stopped in refundAddressDeposit', async () => {
    const { quote, signature } = await chain.fundedQuote()
    await turnHostile(chain.contracts.weth)
    await chain.nextBlockAt(quote.fillDeadline + 1)
    expect(await revertOf(chain.send(anyone, 'refundAddressDeposit', [quote, signature]))).toEqual(guarded)
  })

  it('is stopped in registerSolver, addBond and executeUnstake', async () => {
    await chain.send(solver, 'requestUnstake', [1n])
    await turnHostile(chain.contracts.bondToken)
    await chain.client.increaseTime({ seconds: 8 * 24 * 3600 })
    expect(await revertOf(chain.send(anyone, 'registerSolver', [BOND]))).toEqual(guarded)
    expect(await revertOf(chain.send(solver, 'addBond', [1n]))).toEqual(guarded)
    expect(await revertOf(chain.send(solver, 'executeUnstake', []))).toEqual(guarded)
  })
})
