import {
  AggregatorError,
  type SendDepositOptions,
  type SignedQuote,
  sendDeposit,
} from '@quote-aggregator/client'
import { createWalletClient, type Hex, http, toFunctionSelector } from 'viem'
import { describe, expect, it } from 'vitest'
import { INPUT_AMOUNT, solver, stranger, user } from '../../support/chain/settlement.js'
import {
  called,
  DEPOSITED,
  keep,
  passTime,
  reasonOf,
  TAKE,
  useDeposits,
} from '../../support/clients/deposits.js'
import type { SentBatch, WalletRequest } from '../../support/clients/mock-wallet.js'

const deposits = useDeposits()
const { node, walletOf, terms, offerOf, stateOf } = deposits

describe('a wallet with EIP-5792', () => {
  it.each([
    ['supported', true, undefined],
    ['ready', true, undefined],
    ['unsupported', false, undefined],
    ['supported', true, '0x0'],
    ['supported', true, '0x07A69'],
    ['supported', true, '31337'],
  ] as const)(
    'that says %s of atomic batches sends all with one prompt',
    async (batches, atomicRequired, scope) => {
      const { client, prompts } = walletOf({ batches, ...(scope && { scope }) })
      const offer = await offerOf()
      const app = keep()
      await sendDeposit(client, offer, await terms(), app.options)

      expect(prompts).toHaveLength(1)
      const { params } = prompts[0] as WalletRequest
      const [batch] = params as [SentBatch]
      expect(batch).toMatchObject({ version: '2.0.0', from: user.address, chainId: '0x7a69', atomicRequired })
      expect(batch.calls.map(({ to, value }) => [to, value])).toEqual([
        [deposits.chain.contracts.weth, '0x0'],
        [deposits.chain.contracts.settlement, '0x0'],
      ])
      expect(await stateOf(offer)).toBe(DEPOSITED)
      expect(app.steps()).toEqual(['deposit asked', 'deposit sent', 'deposit mined'])
      expect(app.told.at(-1)?.batchId).toBe('batch 0')
    },
  )

  it.each([5750, 5760, 5700, 5710, 5740, 4200, -32601, -32602])(
    'that refuses the batch with %i gets one transaction after the other',
    async (batches) => {
      const { client, prompts } = walletOf({ batches })
      const offer = await offerOf()
      const app = keep()
      await sendDeposit(client, offer, await terms(), app.options)
      expect(app.steps().slice(0, 3)).toEqual(['deposit asked', 'deposit refused', 'approve asked'])
      expect(called(prompts)).toEqual(['wallet_sendCalls', 'approve', 'deposit'])
      expect(await stateOf(offer)).toBe(DEPOSITED)
    },
  )
})

describe('a wallet without EIP-5792', () => {
  it('approves, then deposits', async () => {
    const { client, prompts } = walletOf()
    const offer = await offerOf()
    const app = keep()
    await sendDeposit(client, offer, await terms(), app.options)
    expect(called(prompts)).toEqual(['approve', 'deposit'])
    expect(app.steps()).toEqual(
      ['approve', 'deposit'].flatMap((step) => ['asked', 'sent', 'mined'].map((state) => `${step} ${state}`)),
    )
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })

  it('sets the allowance of a token like USDT to zero first', async () => {
    await deposits.chain.approve(deposits.oldToken, user, 1n)
    const { client, prompts } = walletOf()
    const offer = await offerOf({ inputToken: deposits.oldToken })
    await sendDeposit(client, offer, await terms(), TAKE)
    expect(called(prompts)).toEqual(['approve', 'approve', 'deposit'])
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })
})

describe('a deposit to the address', () => {
  const options: SendDepositOptions = { ...TAKE, depositMode: 'ADDRESS' }

  it('is one transfer, to the address that the contract computes', async () => {
    const { client, prompts } = walletOf({ batches: 'supported' })
    const offer = await offerOf()
    const told = { ...offer, depositAddress: stranger.address, orderId: `0x${'ab'.repeat(32)}` as Hex }
    await sendDeposit(client, told, await terms(), options)
    expect(called(prompts)).toEqual(['transfer'])
    expect(await deposits.chain.balanceOf(deposits.chain.contracts.weth, offer.depositAddress)).toBe(
      INPUT_AMOUNT,
    )
  })

  it('may come from another account', async () => {
    await deposits.chain.mint(deposits.chain.contracts.weth, stranger.address, INPUT_AMOUNT)
    const { client } = walletOf({ account: stranger.address })
    const offer = await offerOf()
    await sendDeposit(client, offer, await terms(), options)
    expect(await deposits.chain.balanceOf(deposits.chain.contracts.weth, offer.depositAddress)).toBe(
      INPUT_AMOUNT,
    )
  })
})

describe('a deposit that fails', () => {
  /** Has a deposit wait to be mined. */
  async function startPending() {
    await deposits.chain.approve(deposits.chain.contracts.weth, user, INPUT_AMOUNT)
    await deposits.chain.client.setAutomine(false)
    const { client } = walletOf()
    const offer = await offerOf()
    const app = keep()
    const ended = reasonOf(sendDeposit(client, offer, await terms(), app.options))
    await expect.poll(() => app.steps()).toContain('deposit sent')
    return { offer, ended, hash: app.told.at(-1)?.hash as Hex }
  }

  /** Has the solver take its offer back, before any transaction that waits to be mined. */
  async function cancelNonce({ quote }: SignedQuote): Promise<void> {
    const gasPrice = await deposits.chain.client.getGasPrice()
    await deposits.chain.client.setBalance({ address: solver.address, value: 10n ** 20n })
    await deposits.chain.client.request({
      method: 'eth_sendTransaction',
      params: [
        {
          from: solver.address,
          to: deposits.chain.contracts.settlement,
          data: `${toFunctionSelector('cancelNonce(uint256)')}${quote.nonce.toString(16).padStart(64, '0')}`,
          gasPrice: `0x${(gasPrice * 100n).toString(16)}`,
          gas: '0x30d40',
        },
      ],
    } as never)
  }

  it('has reverted', async () => {
    const { offer, ended } = await startPending()
    await cancelNonce(offer)
    await deposits.chain.client.mine({ blocks: 1 })
    expect(await ended).toBe('REVERTED')
  })

  it('was replaced in the wallet', async () => {
    const { ended, hash } = await startPending()
    const { nonce } = await deposits.chain.client.getTransaction({ hash })
    await deposits.chain.client.request({
      method: 'eth_sendTransaction',
      params: [
        {
          from: user.address,
          to: user.address,
          nonce: `0x${nonce.toString(16)}`,
          gasPrice: `0x${(10n ** 12n).toString(16)}`,
          gas: '0x5208',
        },
      ],
    } as never)
    await deposits.chain.client.mine({ blocks: 1 })
    await passTime(deposits, 61)
    expect(await ended).toBe('REPLACED')
  })

  it('has come too late', async () => {
    const { ended, hash, offer } = await startPending()
    await deposits.chain.client.dropTransaction({ hash })
    await deposits.chain.client.setNextBlockTimestamp({ timestamp: BigInt(offer.quote.depositDeadline + 1) })
    await deposits.chain.client.mine({ blocks: 1 })
    expect(await ended).toBe('EXPIRED')
  })

  it.each([
    ['CONTRACT', 1, 'EXPIRED'],
    ['ADDRESS', 1, 'TOO_LATE_FOR_TRANSFER'],
    ['ADDRESS', -118, 'TOO_LATE_FOR_TRANSFER'],
  ] as const)(
    'is not begun in mode %s with the chain %i seconds after its deadline, with a clock that is late',
    async (depositMode, seconds, reason) => {
      const { client, prompts } = walletOf()
      const offer = await offerOf()
      const timestamp = BigInt(offer.quote.depositDeadline + seconds)
      await deposits.chain.client.setNextBlockTimestamp({ timestamp })
      await deposits.chain.client.mine({ blocks: 1 })
      const options = { ...TAKE, depositMode }
      expect(await reasonOf(sendDeposit(client, offer, await terms(), options))).toBe(reason)
      expect(prompts).toEqual([])
    },
  )

  it('has reverted in a batch', async () => {
    const offer = await offerOf()
    const { client } = walletOf({ batches: 'supported', onPrompt: () => cancelNonce(offer) })
    expect(await reasonOf(sendDeposit(client, offer, await terms(), TAKE))).toBe('REVERTED')
  })

  it('is not asked for once the offer is dead by the contract, also between the approval and the deposit', async () => {
    const offer = await offerOf()
    const { client, prompts } = walletOf({ onPrompt: () => cancelNonce(offer) })
    const refused = expect.objectContaining({ problems: ['nonce_used'] })
    await expect(sendDeposit(client, offer, await terms(), TAKE)).rejects.toEqual(refused)
    expect(prompts).toHaveLength(1)
    await expect(sendDeposit(client, offer, await terms(), TAKE)).rejects.toEqual(refused)
    expect(prompts).toHaveLength(1)
  })

  it('is not begun after the signal has ended the wait', async () => {
    const { client, prompts } = walletOf()
    const signal = AbortSignal.abort(new Error('the page is closed'))
    await expect(sendDeposit(client, await offerOf(), await terms(), { ...TAKE, signal })).rejects.toThrow(
      'the page is closed',
    )
    expect(prompts).toEqual([])
  })

  it('is not begun after its deadline', async () => {
    const { client, prompts } = walletOf()
    const offer = await offerOf({ depositDeadline: Math.floor(Date.now() / 1000) - 1 })
    expect(await reasonOf(sendDeposit(client, offer, await terms(), TAKE))).toBe('EXPIRED')
    expect(prompts).toEqual([])
  })

  it('is not begun from another account, which the contract refuses', async () => {
    const { client, prompts } = walletOf({ account: stranger.address })
    const error = await reasonOf(sendDeposit(client, await offerOf(), await terms(), TAKE))
    expect(error).toBeInstanceOf(AggregatorError)
    expect((error as AggregatorError).violations).toEqual([
      { field: 'wallet', message: `must have the account of the offer, ${user.address}` },
    ])
    expect(prompts).toEqual([])
  })

  it('is not begun on another chain', async () => {
    const elsewhere = (request: WalletRequest) =>
      request.method === 'eth_chainId' ? Promise.resolve('0x1') : node(request)
    const { client, prompts } = walletOf({ node: elsewhere })
    const app = keep()
    await expect(sendDeposit(client, await offerOf(), await terms(), app.options)).rejects.toThrow(/chain/)
    expect([app.steps(), prompts]).toEqual([[], []])
  })
})

it('an account in the app signs its transactions itself, and has sent nothing that cannot be estimated', async () => {
  const client = createWalletClient({ account: user, transport: http(deposits.chain.devnet.rpcUrl) })
  const offer = await offerOf()
  await sendDeposit(client, offer, await terms(), TAKE)
  expect(await stateOf(offer)).toBe(DEPOSITED)
  const { weth } = deposits.chain.contracts
  const left = await deposits.chain.balanceOf(weth, user.address)
  await deposits.chain.transfer(weth, user, stranger.address, left)
  const app = keep({ depositMode: 'ADDRESS' })
  const sending = sendDeposit(client, await offerOf({ nonce: 8n }), await terms(), app.options)
  expect(await reasonOf(sending)).not.toBe('UNCERTAIN')
  expect(app.told).toEqual([])
})
