import {
  ChainReadError,
  type NoRefund,
  type PreparedRefund,
  prepareRefund,
  type SignedQuote,
} from '@quote-aggregator/client'
import { type Address, type Hex, numberToHex, toFunctionSelector } from 'viem'
import { describe, expect, it, vi } from 'vitest'
import { RULES } from '../../support/chain/chain.js'
import { anyone, INPUT_AMOUNT, OUTPUT_AMOUNT, RESERVE, solver, user } from '../../support/chain/settlement.js'
import { useDeposits } from '../../support/clients/deposits.js'
import type { WalletRequest } from '../../support/clients/mock-wallet.js'

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

describe.each(RULES)('with the %s contract', (rules) => {
  const deposits = useDeposits(rules)
  const { terms, offerOf } = deposits
  const isDeployed = rules === 'deployed'
  const weth = () => deposits.chain.contracts.weth
  const usdc = () => deposits.chain.contracts.usdc

  const contractQuote = ({ quote }: SignedQuote) => ({
    ...quote,
    orderType: 0,
    outputChainId: BigInt(quote.outputChainId),
  })
  const act = (account: typeof user, name: string, offer: SignedQuote) =>
    deposits.chain.send(account, name as 'settle', [contractQuote(offer) as never, offer.signature])
  const pay = (offer: SignedQuote, amount = INPUT_AMOUNT, token = weth()) =>
    deposits.chain.transfer(token, user, offer.depositAddress, amount)

  async function passFillDeadline({ quote }: SignedQuote): Promise<void> {
    const timestamp = BigInt(quote.fillDeadline + 1)
    await deposits.chain.client.setNextBlockTimestamp({ timestamp })
    await deposits.chain.client.mine({ blocks: 1 })
  }

  /** Takes back all that can be. @returns what came back, and the compensation of each call */
  async function takeAllBack(offer: SignedQuote, token?: Address) {
    const settlement = await terms()
    const tokens = [weth(), deposits.chain.contracts.bondToken, usdc(), ...(token ? [token] : [])]
    const balances = () => Promise.all(tokens.map((one) => deposits.chain.balanceOf(one, user.address)))
    const before = await balances()
    const compensations: bigint[] = []
    for (;;) {
      const plan: PreparedRefund | NoRefund = await prepareRefund(offer, settlement, token)
      if ('none' in plan) {
        const after = await balances()
        return {
          back: after.map((amount, index) => amount - (before[index] ?? 0n)),
          compensations,
          none: plan.none,
        }
      }
      expect(compensations.length, 'calls without an end').toBeLessThan(6)
      compensations.push(plan.compensation)
      const { to, data } = plan.call
      const from = plan.sender ?? anyone.address
      await deposits.chain.client.setBalance({ address: from, value: 10n ** 20n })
      await deposits.chain.client.impersonateAccount({ address: from })
      const hash = await deposits.chain.client.request({
        method: 'eth_sendTransaction',
        params: [{ from, to, data, gas: '0x7a120' }],
      } as never)
      await deposits.chain.client.mine({ blocks: 1 })
      const { status } = await deposits.chain.client.getTransactionReceipt({ hash })
      expect(status).toBe('success')
    }
  }

  it('a deposit by the contract comes back after the fill deadline, with compensation', async () => {
    const offer = await offerOf()
    await deposits.chain.approve(weth(), user, INPUT_AMOUNT)
    await act(user, 'deposit', offer)
    expect(await prepareRefund(offer, await terms())).toHaveProperty('none')
    await passFillDeadline(offer)
    expect(await takeAllBack(offer)).toMatchObject({
      back: [INPUT_AMOUNT, RESERVE, 0n],
      compensations: [RESERVE],
    })
  })

  it.each(
    (['deposit', 'transfer'] as const).flatMap((mode) =>
      ['0x', '0x60006000fd', '0x00', '0x5b600056', '0xfe'].map((code) => [mode, code] as const),
    ),
  )('a %s comes back when the output token is broken, with the code %s', async (mode, code) => {
    const offer = await offerOf()
    await deposits.chain.approve(weth(), user, INPUT_AMOUNT)
    await (mode === 'deposit' ? act(user, 'deposit', offer) : pay(offer))
    await deposits.chain.client.setCode({ address: usdc(), bytecode: code as Hex })
    await passFillDeadline(offer)
    expect(await prepareRefund(offer, await terms())).toMatchObject({ compensation: RESERVE })
  })

  it('a deposit comes back on a quiet chain, which has no block after the fill deadline yet', async () => {
    const offer = await offerOf()
    await deposits.chain.approve(weth(), user, INPUT_AMOUNT)
    await act(user, 'deposit', offer)
    vi.useFakeTimers({ toFake: ['Date'], now: (offer.quote.fillDeadline + 1) * 1000 })
    expect(await prepareRefund(offer, await terms())).toEqual({ none: expect.stringMatching(/^Ask again/) })
    // The time of anvil's pending block is that of its own clock.
    const pending = async (request: WalletRequest) => {
      if (request.params?.[1] !== 'pending') return deposits.node(request)
      await passFillDeadline(offer)
      return deposits.node({ ...request, params: [request.params[0], 'latest'] })
    }
    expect(await prepareRefund(offer, await terms(pending))).toMatchObject({ compensation: RESERVE })
  })

  it('is not called kept when only a part of the node has seen the refund', async () => {
    const offer = await offerOf()
    await deposits.chain.approve(weth(), user, INPUT_AMOUNT)
    await act(user, 'deposit', offer)
    await passFillDeadline(offer)
    const before = numberToHex(await deposits.chain.client.getBlockNumber())
    await deposits.chain.send(anyone, 'refund', [offer.orderId])
    const orders = toFunctionSelector('orders(bytes32)')
    const lagging = async (request: WalletRequest) => {
      const [call] = (request.params ?? []) as [{ readonly data?: string }?]
      const isBehind = request.method === 'eth_call' && call?.data?.startsWith(orders)
      return deposits.node(isBehind ? { ...request, params: [call, before] } : request)
    }
    expect(await prepareRefund(offer, await terms(lagging))).toEqual({
      none: expect.stringMatching(/^Ask again/),
    })
    expect(await prepareRefund(offer, await terms())).toEqual({ none: 'Nothing can be taken back now.' })
  })

  it('is not promised for a transfer that the solver has cancelled', async () => {
    const offer = await offerOf()
    await pay(offer)
    expect(await prepareRefund(offer, await terms())).toEqual({ none: 'The solver still has time.' })
    await deposits.chain.send(solver, 'cancelNonce', [offer.quote.nonce])
    expect(await prepareRefund(offer, await terms())).toEqual({ none: expect.stringMatching(/^Ask again/) })
    await passFillDeadline(offer)
    expect(await prepareRefund(offer, await terms())).toEqual(
      isDeployed
        ? {
            none: 'The contract keeps the tokens. If their token refuses transfers just now, ask again later.',
          }
        : { call: expect.anything(), compensation: 0n },
    )
  })

  it.each(['one that lags', 'one that is stuck'])(
    'of two nodes behind one URL, %s never says that nothing is there, or that it is kept',
    async (kind) => {
      const offer = await offerOf()
      await pay(offer)
      const before = await deposits.chain.client.getBlockNumber()
      await passFillDeadline(offer)
      const first = kind === 'one that lags' ? before : 0n
      let calls = 0
      const lagging = (request: WalletRequest) => {
        const [call, block] = request.params ?? []
        if (request.method !== 'eth_call' || calls++ % 2 === 0) return deposits.node(request)
        if (block === 'latest') return deposits.node({ ...request, params: [call, numberToHex(first)] })
        return Promise.reject(Object.assign(new Error('header not found'), { code: -32000 }))
      }
      await expect(prepareRefund(offer, await terms(lagging))).rejects.toThrow(ChainReadError)
    },
  )

  it('does not say of a block that is old that nothing is there', async () => {
    const offer = await offerOf()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 400_000 })
    expect(await prepareRefund(offer, await terms())).toEqual({ none: expect.stringMatching(/^Ask again/) })
  })

  it('does not take a balance that a node refuses to read for none', async () => {
    const offer = await offerOf()
    await pay(offer, 4n, deposits.oldToken)
    await passFillDeadline(offer)
    const limited = (request: WalletRequest) => {
      const [call] = (request.params ?? []) as [{ readonly to?: string }?]
      return call?.to === deposits.oldToken.toLowerCase()
        ? Promise.reject(Object.assign(new Error('request rate limited'), { code: -32005 }))
        : deposits.node(request)
    }
    const plan = await prepareRefund(offer, await terms(limited), deposits.oldToken)
    expect(plan).toEqual({ none: expect.stringMatching(/^Ask again, and keep the offer/) })
  })

  it('does not call kept what a token that is paused holds', async () => {
    const [one, two] = [await offerOf(), await offerOf({ nonce: 8n })]
    await deposits.chain.approve(weth(), user, INPUT_AMOUNT)
    await pay(one)
    await act(user, 'deposit', two)
    await passFillDeadline(one)
    const paused = (request: WalletRequest) => {
      const [call] = (request.params ?? []) as [{ readonly data?: string }?]
      const isView = READ.some((selector) => call?.data?.startsWith(selector))
      return request.method === 'eth_call' && !isView
        ? Promise.reject(Object.assign(new Error('execution reverted'), { code: 3, data: '0x' }))
        : deposits.node(request)
    }
    for (const offer of [one, two])
      expect(await prepareRefund(offer, await terms(paused))).toEqual({
        none: expect.stringMatching(/^Ask again, and keep the offer/),
      })
  })

  it('tells a transfer after its deposit deadline that no solver can fill it any more', async () => {
    const offer = await offerOf()
    await pay(offer)
    const timestamp = BigInt(offer.quote.depositDeadline + 1)
    await deposits.chain.client.setNextBlockTimestamp({ timestamp })
    await deposits.chain.client.mine({ blocks: 1 })
    expect(await prepareRefund(offer, await terms())).toEqual({
      none: expect.stringMatching(/^Ask again once/),
    })
  })

  it.each([
    ['the full input', INPUT_AMOUNT, RESERVE],
    ['less', INPUT_AMOUNT - 1n, 0n],
  ])('a transfer of %s comes back after the fill deadline', async (_, amount, compensation) => {
    const offer = await offerOf()
    await pay(offer, amount)
    expect(await prepareRefund(offer, await terms())).toHaveProperty('none')
    await passFillDeadline(offer)
    const back = [amount, compensation, 0n]
    expect(await takeAllBack(offer)).toMatchObject({ back, compensations: [compensation] })
  })

  it('too much comes back after the settlement', async () => {
    const offer = await offerOf()
    await pay(offer, INPUT_AMOUNT + 7n)
    await act(solver, 'settle', offer)
    const { back } = await takeAllBack(offer)
    // The reference contract has given it back itself.
    expect(back).toEqual([isDeployed ? 7n : 0n, 0n, 0n])
  })

  it.each(['settlement', 'refund'])('a second transfer comes back after the %s', async (end) => {
    const offer = await offerOf()
    await pay(offer)
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
    const offer = await offerOf()
    await deposits.chain.mint(usdc(), user.address, OUTPUT_AMOUNT)
    await pay(offer)
    await pay(offer, 3n, usdc())
    await passFillDeadline(offer)
    const { back, compensations } = await takeAllBack(offer)
    expect(compensations[0]).toBe(RESERVE)
    expect(back).toEqual([INPUT_AMOUNT, RESERVE, isDeployed ? 3n : 0n])
  })

  it.runIf(isDeployed)('what somebody has ended by deployAndRecover comes back all the same', async () => {
    const offer = await offerOf()
    await pay(offer)
    await passFillDeadline(offer)
    await deposits.chain.send(
      anyone,
      'deployAndRecover' as never,
      [contractQuote(offer), offer.signature, usdc()] as never,
    )
    expect(await takeAllBack(offer)).toMatchObject({ back: [INPUT_AMOUNT, 0n, 0n], compensations: [0n] })
  })

  it('there is nothing where nothing was sent, and a sentence says so', async () => {
    const offer = await offerOf()
    expect(await prepareRefund(offer, await terms())).toEqual({ none: 'Nothing can be taken back now.' })
    await passFillDeadline(offer)
    expect(await prepareRefund(offer, await terms())).toEqual({ none: 'Nothing can be taken back now.' })
  })
})
