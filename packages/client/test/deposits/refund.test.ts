import { ChainReadError, prepareRefund, type SignedQuote } from '@quote-aggregator/client'
import { type Address, type Hex, numberToHex, toFunctionSelector } from 'viem'
import { describe, expect, it, vi } from 'vitest'
import { RULES } from '../../../../test/support/chain/chain.js'
import {
  anyone,
  INPUT_AMOUNT,
  OUTPUT_AMOUNT,
  RESERVE,
  solver,
  user,
} from '../../../../test/support/chain/settlement.js'
import { useDeposits } from '../../../../test/support/clients/deposits.js'
import type { WalletRequest } from '../../../../test/support/clients/mock-wallet.js'

/** The views of a refund. */
const READ = [
  'orders(bytes32)',
  'isNonceUsed(address,uint256)',
  'balanceOf(address)',
  'BOND_RESERVATION_BPS()',
  'PROTOCOL_NAME()',
  'eip712Domain()',
  'DOMAIN_SEPARATOR()',
  'DEPOSIT_PROXY_CREATION_CODE_HASH()',
].map((view) => toFunctionSelector(view))
const NOTHING = { none: 'Nothing can be taken back now.', isEmpty: true }
const again = (rest = '') => ({ none: expect.stringMatching(new RegExp(`^Ask again${rest}`)) })

/** The call of a request to the contract. */
function callOf({ method, params }: WalletRequest) {
  const [call] = (params ?? []) as [{ readonly to?: string; readonly data?: string }?]
  return method === 'eth_call' ? call : undefined
}

describe.each(RULES)('with the %s contract', (rules) => {
  const deposits = useDeposits(rules, true)
  const { node, terms, offerOf, allow, passDeadline } = deposits
  const isDeployed = rules === 'deployed'
  const weth = () => deposits.chain.contracts.weth
  const usdc = () => deposits.chain.contracts.usdc

  const act = (account: typeof user, name: string, { quote, signature }: SignedQuote, ...more: Address[]) => {
    const contractQuote = { ...quote, orderType: 0, outputChainId: BigInt(quote.outputChainId) }
    return deposits.chain.send(account, name as 'settle', [contractQuote, signature, ...more] as never)
  }
  const pay = (offer: SignedQuote, amount = INPUT_AMOUNT, token = weth()) =>
    deposits.chain.transfer(token, user, offer.depositAddress, amount)
  const passFillDeadline = ({ quote }: SignedQuote) => passDeadline(quote.fillDeadline)
  const planOf = async (offer: SignedQuote, request = node, token?: Address) =>
    prepareRefund(offer, await terms(request), token)

  async function depositedOffer(changes = {}) {
    const offer = await offerOf(changes)
    await allow()
    await act(user, 'deposit', offer)
    return offer
  }
  async function paidOffer(amount?: bigint) {
    const offer = await offerOf()
    await pay(offer, amount)
    return offer
  }

  /** Takes back all that can be. @returns what came back, and the compensation of each call */
  async function takeAllBack(offer: SignedQuote, token?: Address) {
    const { client } = deposits.chain
    const tokens = [weth(), deposits.chain.contracts.bondToken, usdc(), ...(token ? [token] : [])]
    const balances = () => Promise.all(tokens.map((one) => deposits.chain.balanceOf(one, user.address)))
    const before = await balances()
    const compensations: bigint[] = []
    for (;;) {
      const plan = await planOf(offer, node, token)
      if ('none' in plan) {
        const back = (await balances()).map((amount, index) => amount - (before[index] ?? 0n))
        return { back, compensations, none: plan.none }
      }
      expect(compensations.length, 'calls without an end').toBeLessThan(6)
      compensations.push(plan.compensation)
      const from = plan.sender ?? anyone.address
      await client.setBalance({ address: from, value: 10n ** 20n })
      await client.impersonateAccount({ address: from })
      const hash = await client.sendTransaction({ account: from, ...plan.call, gas: 500_000n, chain: null })
      await deposits.mine()
      expect(await client.getTransactionReceipt({ hash })).toMatchObject({ status: 'success' })
    }
  }

  it('a deposit by the contract comes back after the fill deadline, with compensation', async () => {
    const offer = await depositedOffer()
    expect(await planOf(offer)).toHaveProperty('none')
    await passFillDeadline(offer)
    const back = [INPUT_AMOUNT, RESERVE, 0n]
    expect(await takeAllBack(offer)).toMatchObject({ back, compensations: [RESERVE] })
  })

  it.each(
    [depositedOffer, () => paidOffer()].flatMap((begin) =>
      ['0x', '0x5b600056'].map((code) => [code, begin] as const),
    ),
  )('what is there comes back when the output token is broken, with the code %s', async (code, begin) => {
    const offer = await begin()
    await deposits.chain.client.setCode({ address: usdc(), bytecode: code as Hex })
    await passFillDeadline(offer)
    expect(await planOf(offer)).toMatchObject({ compensation: RESERVE })
  })

  it('a deposit comes back on a quiet chain, which has no block after the fill deadline yet', async () => {
    const offer = await depositedOffer()
    vi.useFakeTimers({ toFake: ['Date'], now: (offer.quote.fillDeadline + 1) * 1000 })
    expect(await planOf(offer)).toEqual(again())
    // The time of anvil's pending block is that of its own clock.
    const pending = async (request: WalletRequest) => {
      if (request.params?.[1] !== 'pending') return node(request)
      await passFillDeadline(offer)
      return node({ ...request, params: [request.params[0], 'latest'] })
    }
    expect(await planOf(offer, pending)).toMatchObject({ compensation: RESERVE })
  })

  it('is not called kept when only a part of the node has seen the refund', async () => {
    const offer = await depositedOffer()
    await passFillDeadline(offer)
    const before = numberToHex(await deposits.chain.client.getBlockNumber())
    await deposits.chain.send(anyone, 'refund', [offer.orderId])
    const orders = toFunctionSelector('orders(bytes32)')
    const lagging = async (request: WalletRequest) => {
      const call = callOf(request)
      return node(call?.data?.startsWith(orders) ? { ...request, params: [call, before] } : request)
    }
    expect(await planOf(offer, lagging)).toEqual(again())
    expect(await planOf(offer)).toEqual(NOTHING)
  })

  it('is not promised for a transfer that the solver has cancelled', async () => {
    const offer = await paidOffer()
    expect(await planOf(offer)).toEqual({ none: 'The solver still has time.' })
    await deposits.chain.send(solver, 'cancelNonce', [offer.quote.nonce])
    expect(await planOf(offer)).toEqual(again())
    await passFillDeadline(offer)
    const kept = 'The contract keeps the tokens. If their token refuses transfers just now, ask again later.'
    expect(await planOf(offer)).toEqual(
      isDeployed ? { none: kept } : { call: expect.anything(), compensation: 0n },
    )
  })

  it.each(['one that lags', 'one that is stuck'])(
    'of two nodes behind one URL, %s never says that nothing is there, or that it is kept',
    async (kind) => {
      const offer = await paidOffer()
      const first = kind === 'one that lags' ? await deposits.chain.client.getBlockNumber() : 0n
      await passFillDeadline(offer)
      let calls = 0
      const lagging = (request: WalletRequest) => {
        const call = callOf(request)
        if (call === undefined || calls++ % 2 === 0) return node(request)
        if (request.params[1] === 'latest') return node({ ...request, params: [call, numberToHex(first)] })
        return Promise.reject(Object.assign(new Error('header not found'), { code: -32000 }))
      }
      await expect(planOf(offer, lagging)).rejects.toThrow(ChainReadError)
    },
  )

  it('does not say of a block that is old that nothing is there', async () => {
    const offer = await offerOf()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 400_000 })
    expect(await planOf(offer)).toEqual(again())
  })

  it('does not take a balance that a node refuses to read for none', async () => {
    const { oldToken } = deposits
    const offer = await offerOf()
    await pay(offer, 4n, oldToken)
    await passFillDeadline(offer)
    const limited = (request: WalletRequest) =>
      callOf(request)?.to === oldToken.toLowerCase()
        ? Promise.reject(Object.assign(new Error('request rate limited'), { code: -32005 }))
        : node(request)
    expect(await planOf(offer, limited, oldToken)).toEqual(again(', and keep the offer'))
  })

  it('does not call kept what a token that is paused holds', async () => {
    const offers = [await paidOffer(), await depositedOffer({ nonce: 8n })]
    await passFillDeadline(offers[0] as SignedQuote)
    const paused = (request: WalletRequest) => {
      const call = callOf(request)
      return call && !READ.some((selector) => call.data?.startsWith(selector))
        ? Promise.reject(Object.assign(new Error('execution reverted'), { code: 3, data: '0x' }))
        : node(request)
    }
    for (const offer of offers) expect(await planOf(offer, paused)).toEqual(again(', and keep the offer'))
  })

  it('tells a transfer after its deposit deadline that no solver can fill it any more', async () => {
    const offer = await paidOffer()
    await passDeadline(offer.quote.depositDeadline)
    expect(await planOf(offer)).toEqual(again(' once'))
  })

  it.each([
    ['the full input', INPUT_AMOUNT, RESERVE],
    ['less', INPUT_AMOUNT - 1n, 0n],
  ])('a transfer of %s comes back after the fill deadline', async (_, amount, compensation) => {
    const offer = await paidOffer(amount)
    expect(await planOf(offer)).toHaveProperty('none')
    await passFillDeadline(offer)
    const back = [amount, compensation, 0n]
    expect(await takeAllBack(offer)).toMatchObject({ back, compensations: [compensation] })
  })

  it('too much comes back after the settlement', async () => {
    const offer = await paidOffer(INPUT_AMOUNT + 7n)
    await act(solver, 'settle', offer)
    const { back } = await takeAllBack(offer)
    // The reference contract has given it back itself.
    expect(back).toEqual([isDeployed ? 7n : 0n, 0n, 0n])
  })

  it.each(['settlement', 'refund'])('a second transfer comes back after the %s', async (end) => {
    const offer = await paidOffer()
    if (end === 'settlement') await act(solver, 'settle', offer)
    await passFillDeadline(offer)
    if (end === 'refund') await takeAllBack(offer)
    await pay(offer, 5n)
    expect(await takeAllBack(offer)).toMatchObject({ back: [5n, 0n, 0n], compensations: [0n] })
  })

  it('the wrong token comes back where the contract can give it', async () => {
    const offer = await offerOf()
    await deposits.chain.mint(usdc(), user.address, OUTPUT_AMOUNT)
    await pay(offer, 3n, usdc())
    await pay(offer, 4n, deposits.oldToken)
    await passFillDeadline(offer)
    const { back, none } = await takeAllBack(offer, deposits.oldToken)
    expect(back).toEqual(isDeployed ? [0n, 0n, 3n, 4n] : [0n, 0n, 0n, 0n])
    expect(none).toMatch(isDeployed ? /Nothing/ : /^Ask again, and keep the offer/)
  })

  it('the wrong token does not end an order before the input is back with its compensation', async () => {
    await deposits.chain.mint(usdc(), user.address, OUTPUT_AMOUNT)
    const offer = await paidOffer()
    await pay(offer, 3n, usdc())
    await passFillDeadline(offer)
    const { back, compensations } = await takeAllBack(offer)
    expect(compensations[0]).toBe(RESERVE)
    expect(back).toEqual([INPUT_AMOUNT, RESERVE, isDeployed ? 3n : 0n])
  })

  it.runIf(isDeployed)('what somebody has ended by deployAndRecover comes back all the same', async () => {
    const offer = await paidOffer()
    await passFillDeadline(offer)
    await act(anyone, 'deployAndRecover', offer, usdc())
    expect(await takeAllBack(offer)).toMatchObject({ back: [INPUT_AMOUNT, 0n, 0n], compensations: [0n] })
  })

  it('there is nothing where nothing was sent, and a sentence says so', async () => {
    const offer = await offerOf()
    expect(await planOf(offer)).toEqual(NOTHING)
    await passFillDeadline(offer)
    expect(await planOf(offer)).toEqual(NOTHING)
  })
})
