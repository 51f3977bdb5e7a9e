import {
  type Hex,
  hexToBigInt,
  numberToHex,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
} from 'viem'
import { afterEach, describe, expect, it } from 'vitest'
import { revertOf } from '../../../../test/support/chain/contract-calls.js'
import {
  BOND,
  otherSolver,
  solver,
  startSettlement,
  stranger,
  user,
} from '../../../../test/support/chain/settlement.js'
import type { ServiceQuote } from '../../../../test/support/chain/signed-quote.js'
import { OrderState } from '../../../../test/support/chain/signed-quote.js'
import { shared } from '../../../../test/support/shared.js'
import { MIN_ORDER } from '../../src/devnet/deploy.js'

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const chain = await shared(startSettlement())

afterEach(() => chain.reset())

/** The two ways to take a quote. For `settle`, the tokens are already at the deposit address. */
describe.each(['deposit', 'settle'] as const)('%s', (call) => {
  const takenState = call === 'deposit' ? OrderState.DEPOSITED : OrderState.SETTLED

  const take = async (quote: ServiceQuote, signature: Hex) => {
    if (call === 'settle' && quote.inputAmount > 0n) {
      const depositAddress = await chain.view.computeDepositAddress([quote, signature])
      await chain.transfer(chain.contracts.weth, user, depositAddress, quote.inputAmount)
    }
    return chain.send(user, call, [quote, signature])
  }

  const refusal = async (changes: Partial<ServiceQuote>, signer = solver) => {
    const { quote, signature } = await chain.signedQuote(changes, signer)
    return revertOf(take(quote, signature))
  }

  const stateOf = async (orderId: Hex) => (await chain.view.orders([orderId]))[8]

  it.each([0, 1])('accepts a quote of order type %i', async (orderType) => {
    const { quote, signature, orderId } = await chain.signedQuote({ orderType })
    await take(quote, signature)
    expect(await stateOf(orderId)).toBe(takenState)
  })

  it('accepts the minimum order of the contract, and nothing smaller', async () => {
    expect(await refusal({ outputAmount: MIN_ORDER - 1n })).toEqual([
      'OrderBelowMinimum',
      MIN_ORDER - 1n,
      MIN_ORDER,
    ])
    expect(await refusal({ outputAmount: MIN_ORDER })).toBeUndefined()
  })

  it('accepts an order whose 5%, rounded down, is the whole free bond, and no larger one', async () => {
    const unstaking = 400n
    await chain.send(solver, 'requestUnstake', [unstaking])
    const { quote: reserving } = await chain.depositedQuote()
    const free = BOND - unstaking - reserving.outputAmount / 20n
    const largest = free * 20n + 19n
    expect(await refusal({ outputAmount: largest + 1n })).toEqual(['InsufficientBond', free, free + 1n])
    expect(await refusal({ outputAmount: largest })).toBeUndefined()
  })

  it('finds no free bond when a slash left less than is unstaking', async () => {
    const { quote, signature } = await chain.fundedQuote({ outputAmount: 10n * BOND })
    await chain.send(solver, 'requestUnstake', [BOND])
    await chain.nextBlockAt(quote.fillDeadline + 1)
    await chain.send(user, 'refundAddressDeposit', [quote, signature])
    const deadlines = { depositDeadline: quote.fillDeadline + 60, fillDeadline: quote.fillDeadline + 60 }
    expect(await refusal({ ...deadlines, outputAmount: MIN_ORDER })).toEqual(['InsufficientBond', 0n, 1n])
  })

  it('reverts for any other order type', async () => {
    expect(await refusal({ orderType: 2 })).toEqual(['UnknownOrderType', 2])
  })

  it.each(['inputAmount', 'outputAmount'] as const)('reverts for an %s of zero', async (amount) => {
    expect(await refusal({ [amount]: 0n })).toEqual(['ZeroAmount'])
  })

  it('reverts for a quote that pays out on another chain', async () => {
    expect(await refusal({ outputChainId: 10n })).toEqual(['WrongOutputChain', 10n])
  })

  it('reverts for a fill deadline before the deposit deadline', async () => {
    const depositDeadline = chain.startTime + 50
    expect(await refusal({ depositDeadline, fillDeadline: depositDeadline - 1 })).toEqual([
      'FillDeadlineBeforeDepositDeadline',
      depositDeadline,
      depositDeadline - 1,
    ])
  })

  it('accepts a fill deadline equal to the deposit deadline', async () => {
    const depositDeadline = chain.startTime + 50
    const { quote, signature, orderId } = await chain.signedQuote({
      depositDeadline,
      fillDeadline: depositDeadline,
    })
    await take(quote, signature)
    expect(await stateOf(orderId)).toBe(takenState)
  })

  it('reverts for a solver that is not registered', async () => {
    expect(await refusal({ solver: stranger.address }, stranger)).toEqual([
      'SolverNotRegistered',
      stranger.address,
    ])
  })

  it('uses up the nonce for all quotes of this solver and of no other solver', async () => {
    const { quote, signature } = await chain.signedQuote({ nonce: 7n })
    await take(quote, signature)
    expect(await chain.view.isNonceUsed([solver.address, 7n])).toBe(true)
    expect(await chain.view.isNonceUsed([otherSolver.address, 7n])).toBe(false)
    expect(await revertOf(take(quote, signature))).toEqual(['NonceAlreadyUsed', solver.address, 7n])
    expect(await refusal({ nonce: 7n, outputAmount: 50n })).toEqual(['NonceAlreadyUsed', solver.address, 7n])
    expect(await refusal({ nonce: 7n, solver: otherSolver.address }, otherSolver)).toBeUndefined()
  })

  it('reverts for a nonce that the solver cancelled', async () => {
    await chain.send(solver, 'cancelNonce', [9n])
    expect(await refusal({ nonce: 9n })).toEqual(['NonceAlreadyUsed', solver.address, 9n])
  })
})

describe.each(['deposit', 'settle', 'refundAddressDeposit'] as const)(
  'the signature that %s requires',
  (call) => {
    const refusal = async (forge: (signature: Hex) => Hex) => {
      const { quote, signature } = await chain.signedQuote()
      if (call === 'refundAddressDeposit') await chain.nextBlockAt(quote.fillDeadline + 1)
      return revertOf(chain.send(user, call, [quote, forge(signature)]))
    }

    it('must be by the solver in the quote', async () => {
      const { quote, signature } = await chain.signedQuote({}, otherSolver)
      if (call === 'refundAddressDeposit') await chain.nextBlockAt(quote.fillDeadline + 1)
      expect(await revertOf(chain.send(user, call, [quote, signature]))).toEqual([
        'SignerNotSolver',
        otherSolver.address,
      ])
    })

    it('must cover every member of the quote', async () => {
      const { quote, signature } = await chain.signedQuote()
      const changes: Partial<ServiceQuote>[] = [
        { solver: otherSolver.address },
        { inputToken: chain.contracts.usdc },
        { inputAmount: quote.inputAmount - 1n },
        { outputToken: chain.contracts.weth },
        { outputAmount: quote.outputAmount + 1n },
        { orderType: 1 },
        { depositDeadline: quote.depositDeadline - 1 },
        { fillDeadline: quote.fillDeadline + 1 },
        { nonce: quote.nonce + 1n },
      ]
      if (call === 'refundAddressDeposit') await chain.nextBlockAt(quote.fillDeadline + 2)
      for (const change of changes) {
        const [error] = (await revertOf(chain.send(user, call, [{ ...quote, ...change }, signature]))) ?? []
        expect(error, JSON.stringify(Object.keys(change))).toBe('SignerNotSolver')
      }
    })

    it('must have s in the lower half', async () => {
      let highS: Hex = '0x'
      const refused = await refusal((signature) => {
        const { r, s, yParity } = parseSignature(signature)
        highS = numberToHex(CURVE_ORDER - hexToBigInt(s), { size: 32 })
        return `0x${r.slice(2)}${highS.slice(2)}${yParity === 0 ? '1c' : '1b'}`
      })
      expect(refused).toEqual(['ECDSAInvalidSignatureS', highS])
    })

    it('must have v 27 or 28, not 0 or 1', async () => {
      const withParity = (signature: Hex): Hex =>
        `${signature.slice(0, -2) as Hex}0${parseSignature(signature).yParity}`
      expect(await refusal(withParity)).toEqual(['ECDSAInvalidSignature'])
    })

    it('must have 65 bytes, not 64 as in ERC-2098', async () => {
      const compact = (signature: Hex) =>
        serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)))
      expect(await refusal(compact)).toEqual(['ECDSAInvalidSignatureLength', 64n])
      expect(await refusal((signature) => `${signature}00`)).toEqual(['ECDSAInvalidSignatureLength', 66n])
      expect(await refusal(() => '0x')).toEqual(['ECDSAInvalidSignatureLength', 0n])
    })
  },
)
