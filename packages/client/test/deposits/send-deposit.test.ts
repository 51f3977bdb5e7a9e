import { AggregatorError, type SignedQuote } from '@quote-aggregator/client'
import { createWalletClient, type Hex, http, toFunctionSelector, toHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { INPUT_AMOUNT, solver, stranger, user } from '../../../../test/support/chain/settlement.js'
import { called, DEPOSITED, passTime, useDeposits } from '../../../../test/support/clients/deposits.js'
import type { SentBatch } from '../../../../test/support/clients/mock-wallet.js'

const deposits = useDeposits()
const { walletOf, offerOf, stateOf, begin, allow, holdBlocks, mine, passDeadline, held, replaceLast } =
  deposits
const ADDRESS = { depositMode: 'ADDRESS' } as const

describe('a wallet with EIP-5792', () => {
  it.each([
    ['supported', undefined],
    ['ready', undefined],
    ['unsupported', undefined],
    ['supported', '0x0'],
    ['supported', '0x07A69'],
    ['supported', '31337'],
  ] as const)(
    'that says %s of atomic batches, of the chain %s, sends all with one prompt',
    async (batches, scope) => {
      const { client, prompts } = walletOf({ batches, ...(scope && { scope }) })
      const { offer, told, steps, ended } = await begin(client)
      expect(await ended).toBe('there')
      expect(prompts).toHaveLength(1)
      const [batch] = prompts.flatMap(({ params }) => params) as [SentBatch]
      const atomicRequired = batches !== 'unsupported'
      expect(batch).toMatchObject({ version: '2.0.0', from: user.address, chainId: '0x7a69', atomicRequired })
      const { weth, settlement } = deposits.chain.contracts
      const calls = batch.calls.map(({ to, value }) => [to, value])
      expect(calls).toEqual([weth, settlement].map((to) => [to, '0x0']))
      expect(await stateOf(offer)).toBe(DEPOSITED)
      expect(steps()).toEqual(['deposit asked', 'deposit sent', 'deposit mined'])
      expect(told.at(-1)?.batchId).toBe('batch 0')
    },
  )

  it.each([5750, 5760, 5700, 5710, 5740, 4200, -32601, -32602])(
    'that refuses the batch with %i gets one transaction after the other',
    async (batches) => {
      const { client, prompts } = walletOf({ batches })
      const { offer, steps, ended } = await begin(client)
      expect(await ended).toBe('there')
      expect(steps().slice(0, 3)).toEqual(['deposit asked', 'deposit refused', 'approve asked'])
      expect(called(prompts)).toEqual(['wallet_sendCalls', 'approve', 'deposit'])
      expect(await stateOf(offer)).toBe(DEPOSITED)
    },
  )
})

describe('a wallet without EIP-5792', () => {
  it('approves, then deposits', async () => {
    const { client, prompts } = walletOf()
    const { offer, steps, ended } = await begin(client)
    expect(await ended).toBe('there')
    expect(called(prompts)).toEqual(['approve', 'deposit'])
    const states = ['asked', 'sent', 'mined']
    expect(steps()).toEqual(
      ['approve', 'deposit'].flatMap((step) => states.map((state) => `${step} ${state}`)),
    )
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })
})

it('a deposit to the address is one transfer, also of another account, to the address that the contract computes', async () => {
  await deposits.chain.mint(deposits.chain.contracts.weth, stranger.address, INPUT_AMOUNT)
  const { client, prompts } = walletOf({ account: stranger.address, batches: 'supported' })
  const offer = await offerOf()
  const told = { ...offer, depositAddress: stranger.address, orderId: `0x${'ab'.repeat(32)}` as Hex }
  const { ended } = await begin(client, ADDRESS, { offer: told })
  expect([await ended, called(prompts), await held(offer)]).toEqual(['there', ['transfer'], INPUT_AMOUNT])
})

describe('a deposit that fails', () => {
  /** Has a deposit wait to be mined. */
  async function startPending() {
    await allow()
    await holdBlocks()
    const app = await begin(walletOf().client)
    await expect.poll(app.steps).toContain('deposit sent')
    return app
  }

  /** Has the solver take its offer back, before any transaction that waits to be mined. */
  async function cancelNonce({ quote }: SignedQuote): Promise<void> {
    const { client, contracts } = deposits.chain
    const gasPrice = toHex((await client.getGasPrice()) * 100n)
    await client.setBalance({ address: solver.address, value: 10n ** 20n })
    const data = `${toFunctionSelector('cancelNonce(uint256)')}${quote.nonce.toString(16).padStart(64, '0')}`
    const params = [{ from: solver.address, to: contracts.settlement, data, gasPrice, gas: '0x30d40' }]
    await client.request({ method: 'eth_sendTransaction', params } as never)
  }

  it('has reverted', async () => {
    const { offer, ended } = await startPending()
    await cancelNonce(offer)
    await mine()
    expect(await ended).toBe('REVERTED')
  })

  it('was replaced in the wallet', async () => {
    const { told, ended } = await startPending()
    await replaceLast(told, { to: user.address, data: '0x' })
    await mine()
    await passTime(deposits, 61)
    expect(await ended).toBe('REPLACED')
  })

  it('has come too late', async () => {
    const { told, ended, offer } = await startPending()
    await deposits.chain.client.dropTransaction({ hash: told.at(-1)?.hash as Hex })
    await passDeadline(offer.quote.depositDeadline)
    expect(await ended).toBe('EXPIRED')
  })

  it.each(['CONTRACT', 'ADDRESS'] as const)(
    'is not begun in mode %s, nor approved, with less than the input',
    async (depositMode) => {
      const { chain } = deposits
      await chain.transfer(chain.contracts.weth, user, stranger.address, 99n * INPUT_AMOUNT + 1n)
      const { client, prompts } = walletOf()
      expect(await (await begin(client, { depositMode })).ended).toBe('INSUFFICIENT_BALANCE')
      expect(prompts).toEqual([])
    },
  )

  it('has reverted in a batch', async () => {
    const offer = await offerOf()
    const { client } = walletOf({ batches: 'supported', onPrompt: () => cancelNonce(offer) })
    expect(await (await begin(client, {}, { offer })).ended).toBe('REVERTED')
  })

  it('is not asked for once the offer is dead by the contract, also between the approval and the deposit', async () => {
    const offer = await offerOf()
    const { client, prompts } = walletOf({ onPrompt: () => cancelNonce(offer) })
    for (const _ of ['between', 'before']) {
      const { ended } = await begin(client, {}, { offer })
      expect(await ended).toMatchObject({ problems: ['nonce_used'] })
      expect(prompts).toHaveLength(1)
    }
  })

  it.each([
    ['CONTRACT', 0, 'EXPIRED'],
    ['ADDRESS', 0, 'TOO_LATE_FOR_TRANSFER'],
    ['ADDRESS', -119, 'TOO_LATE_FOR_TRANSFER'],
  ] as const)(
    'is not begun in mode %s with the chain %i seconds after its deadline, with a clock that is late',
    async (depositMode, seconds, reason) => {
      const { client, prompts } = walletOf()
      const offer = await offerOf()
      await passDeadline(offer.quote.depositDeadline + seconds)
      const { ended } = await begin(client, { depositMode }, { offer })
      expect([await ended, prompts]).toEqual([reason, []])
    },
  )

  it('is not begun after its deadline, nor after the signal, nor from an account that the contract refuses', async () => {
    const { client, prompts } = walletOf()
    const late = await offerOf({ depositDeadline: Math.floor(Date.now() / 1000) - 1 })
    expect(await (await begin(client, {}, { offer: late })).ended).toBe('EXPIRED')
    const reason = new Error('the page is closed')
    expect(await (await begin(client, { signal: AbortSignal.abort(reason) })).ended).toBe(reason)
    const other = walletOf({ account: stranger.address })
    const error = await (await begin(other.client)).ended
    expect(error).toBeInstanceOf(AggregatorError)
    const message = `must have the account of the offer, ${user.address}`
    expect(error).toMatchObject({ violations: [{ field: 'wallet', message }] })
    expect([prompts, other.prompts]).toEqual([[], []])
  })
})

it('an account in the app signs its transactions itself, and has sent nothing that cannot be estimated', async () => {
  const client = createWalletClient({ account: user, transport: http(deposits.chain.devnet.rpcUrl) })
  const { offer, ended } = await begin(client)
  expect([await ended, await stateOf(offer)]).toEqual(['there', DEPOSITED])
  const { weth } = deposits.chain.contracts
  await deposits.chain.transfer(
    weth,
    user,
    stranger.address,
    await deposits.chain.balanceOf(weth, user.address),
  )
  const poor = await begin(client, ADDRESS, { offer: await offerOf({ nonce: 8n }) })
  expect(await poor.ended).not.toBe('UNCERTAIN')
  expect(poor.told).toEqual([])
})
