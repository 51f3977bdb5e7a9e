import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventsOf, revertOf } from '../../../../test/support/chain/contract-calls.js'
import {
  anyone,
  BOND,
  otherSolver,
  RESERVE,
  solver,
  startSettlement,
  stranger,
} from '../../../../test/support/chain/settlement.js'
import { shared } from '../../../../test/support/shared.js'

const UNSTAKE_DELAY = 7 * 24 * 3600

const chain = await shared(startSettlement())

afterEach(() => chain.reset())

describe('registerSolver', () => {
  beforeEach(async () => {
    await chain.mint(chain.contracts.bondToken, anyone.address, 2n * BOND)
    await chain.approve(chain.contracts.bondToken, anyone, 2n * BOND)
  })

  it('adds the amount to the bond', async () => {
    const changes = await chain.balanceChanges(async () => {
      const receipt = await chain.send(anyone, 'registerSolver', [BOND])
      expect(eventsOf(receipt)).toEqual([
        { eventName: 'SolverRegistered', args: { solver: anyone.address, amount: BOND } },
      ])
    })
    expect(changes).toEqual({ 'anyone bond': -BOND, 'settlement bond': BOND })
    expect(await chain.view.solvers([anyone.address])).toEqual([BOND, 0n, 0n, 0, true])
    expect(await chain.view.availableBond([anyone.address])).toBe(BOND)
  })

  it('requires at least 1000 tokens', async () => {
    expect(await revertOf(chain.send(anyone, 'registerSolver', [BOND - 1n]))).toEqual([
      'BondBelowMinimum',
      BOND - 1n,
    ])
  })

  it('succeeds only once', async () => {
    await chain.send(anyone, 'registerSolver', [BOND])
    expect(await revertOf(chain.send(anyone, 'registerSolver', [BOND]))).toEqual([
      'SolverAlreadyRegistered',
      anyone.address,
    ])
  })
})

describe('addBond', () => {
  it('adds any amount to the bond', async () => {
    await chain.mint(chain.contracts.bondToken, solver.address, 1n)
    await chain.approve(chain.contracts.bondToken, solver, 1n)
    const changes = await chain.balanceChanges(async () => {
      const receipt = await chain.send(solver, 'addBond', [1n])
      expect(eventsOf(receipt)).toEqual([
        { eventName: 'BondAdded', args: { solver: solver.address, amount: 1n } },
      ])
    })
    expect(changes).toEqual({ 'solver bond': -1n, 'settlement bond': 1n })
    expect(await chain.view.solvers([solver.address])).toEqual([BOND + 1n, 0n, 0n, 0, true])
  })

  it('requires a registered solver and an amount above 0', async () => {
    expect(await revertOf(chain.send(stranger, 'addBond', [1n]))).toEqual([
      'SolverNotRegistered',
      stranger.address,
    ])
    expect(await revertOf(chain.send(solver, 'addBond', [0n]))).toEqual(['ZeroAmount'])
  })
})

describe('unstaking', () => {
  let requestedAt: number

  const request = async (amount: bigint) => {
    requestedAt = chain.startTime + 10
    await chain.nextBlockAt(requestedAt)
    return chain.send(solver, 'requestUnstake', [amount])
  }

  it('emits the request with the time at which the bond is due', async () => {
    const unlockTime = chain.startTime + 10 + UNSTAKE_DELAY
    expect(eventsOf(await request(400n))).toEqual([
      { eventName: 'UnstakeRequested', args: { solver: solver.address, amount: 400n, unlockTime } },
    ])
    expect(await chain.view.solvers([solver.address])).toEqual([BOND, 0n, 400n, unlockTime, true])
    expect(await chain.view.availableBond([solver.address])).toBe(BOND)
  })

  it('pays out after 7 days', async () => {
    await request(400n)
    await chain.nextBlockAt(requestedAt + UNSTAKE_DELAY)
    const changes = await chain.balanceChanges(async () => {
      const receipt = await chain.send(solver, 'executeUnstake', [])
      expect(eventsOf(receipt)).toEqual([
        { eventName: 'UnstakeExecuted', args: { solver: solver.address, amount: 400n } },
      ])
    })
    expect(changes).toEqual({ 'settlement bond': -400n, 'solver bond': 400n })
    expect(await chain.view.solvers([solver.address])).toEqual([BOND - 400n, 0n, 0n, 0, true])
  })

  it('pays out nothing one second before the 7 days are over', async () => {
    await request(400n)
    await chain.nextBlockAt(requestedAt + UNSTAKE_DELAY - 1)
    expect(await revertOf(chain.send(solver, 'executeUnstake', []))).toEqual([
      'UnstakeLocked',
      requestedAt + UNSTAKE_DELAY,
    ])
  })

  it('ends the registration when the whole bond is paid out, until a new first bond', async () => {
    await request(BOND)
    await chain.nextBlockAt(requestedAt + UNSTAKE_DELAY)
    await chain.send(solver, 'executeUnstake', [])
    expect(await chain.view.solvers([solver.address])).toEqual([0n, 0n, 0n, 0, false])
    await chain.approve(chain.contracts.bondToken, solver, BOND)
    expect(await revertOf(chain.send(solver, 'registerSolver', [BOND - 1n]))).toEqual([
      'BondBelowMinimum',
      BOND - 1n,
    ])
    await chain.send(solver, 'registerSolver', [BOND])
    expect(await chain.view.solvers([solver.address])).toEqual([BOND, 0n, 0n, 0, true])
  })

  it('accepts no more than the unreserved part of the bond', async () => {
    await chain.depositedQuote()
    expect(await revertOf(request(BOND - RESERVE + 1n))).toEqual([
      'InsufficientBond',
      BOND - RESERVE,
      BOND - RESERVE + 1n,
    ])
    await chain.send(solver, 'requestUnstake', [BOND - RESERVE])
  })

  it('keeps the reserved bond of an open order', async () => {
    const { orderId } = await chain.depositedQuote()
    await request(BOND - RESERVE)
    await chain.nextBlockAt(requestedAt + UNSTAKE_DELAY)
    await chain.send(solver, 'executeUnstake', [])
    expect(await chain.view.solvers([solver.address])).toEqual([RESERVE, RESERVE, 0n, 0, true])
    await chain.send(anyone, 'refund', [orderId])
    expect(await chain.view.solvers([solver.address])).toEqual([0n, 0n, 0n, 0, true])
  })

  it('requires a registered solver, an amount above 0 and no other open request', async () => {
    expect(await revertOf(chain.send(stranger, 'requestUnstake', [1n]))).toEqual([
      'SolverNotRegistered',
      stranger.address,
    ])
    expect(await revertOf(request(0n))).toEqual(['ZeroAmount'])
    await chain.send(solver, 'requestUnstake', [1n])
    expect(await revertOf(chain.send(solver, 'requestUnstake', [1n]))).toEqual(['UnstakeAlreadyRequested'])
  })
})

describe('cancelNonce', () => {
  it("uses up the caller's nonce once, and the nonce of no other solver", async () => {
    expect(eventsOf(await chain.send(solver, 'cancelNonce', [5n]))).toEqual([
      { eventName: 'NonceCancelled', args: { solver: solver.address, nonce: 5n } },
    ])
    expect(await chain.view.isNonceUsed([solver.address, 5n])).toBe(true)
    expect(await chain.view.isNonceUsed([otherSolver.address, 5n])).toBe(false)
    expect(await revertOf(chain.send(solver, 'cancelNonce', [5n]))).toEqual([
      'NonceAlreadyUsed',
      solver.address,
      5n,
    ])
  })
})
