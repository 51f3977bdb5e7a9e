import { AggregatorError, type SignedQuote } from '@quote-aggregator/client'
import { createWalletClient, encodeFunctionData, type Hex, http } from 'viem'
import { describe, expect, it } from 'vitest'
import { settlementAbi } from '../../../../gen/contracts/settlement.js'
import { anyone, INPUT_AMOUNT, solver, stranger, user } from '../../../../test/support/chain/settlement.js'
import { OrderState } from '../../../../test/support/chain/signed-quote.js'
import { called, passTime, useDeposits } from '../../../../test/support/clients/deposits.js'
import { transferData } from '../../../protocol/src/settlement/token-calls.js'

const deposits = useDeposits()
const { node, walletOf, offerOf, stateOf, begin, allow, holdBlocks, mine, passDeadline, held, replaceLast } =
  deposits
const ADDRESS = { depositMode: 'ADDRESS' } as const

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
    const gasPrice = (await client.getGasPrice()) * 100n
    await client.setBalance({ address: solver.address, value: 10n ** 20n })
    const data = encodeFunctionData({ abi: settlementAbi, functionName: 'cancelNonce', args: [quote.nonce] })
    const call = { to: contracts.settlement, data, gasPrice, gas: 200_000n, chain: null }
    await client.sendTransaction({ account: solver.address, ...call })
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

  it('was replaced by a transfer of less: the token may keep a fee', async () => {
    await holdBlocks()
    const { offer, told, steps, ended } = await begin(walletOf().client, ADDRESS)
    await expect.poll(steps).toContain('deposit sent')
    await passTime(deposits, 0)
    await replaceLast(told, { data: transferData(offer.depositAddress, INPUT_AMOUNT - 1n) })
    await mine()
    await passTime(deposits, 61)
    expect(await ended).toBe('UNCERTAIN')
  })

  it('is uncertain when the wallet names a bundle of others that reverts: the next one may have it', async () => {
    const { client: chain, contracts } = deposits.chain
    const call = { to: contracts.settlement, data: '0x12345678', gas: 200_000n, chain: null } as const
    const bundle = await chain.sendTransaction({ account: anyone.address, ...call })
    const { client } = walletOf({
      answer: ({ method }, own) => (method === 'eth_sendTransaction' ? bundle : own()),
    })
    const { steps, ended } = await begin(client, ADDRESS)
    await expect.poll(steps).toContain('deposit sent')
    await passTime(deposits, 30)
    await passTime(deposits, 31)
    expect(await ended).toBe('UNCERTAIN')
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

  it('is not asked for once the offer is dead by the contract, also between the approval and the deposit', async () => {
    const offer = await offerOf()
    const { client, prompts } = walletOf({ onPrompt: () => cancelNonce(offer) })
    for (const _ of ['between', 'before']) {
      const { ended } = await begin(client, {}, { offer })
      expect(await ended).toMatchObject({ problems: ['nonce_used'] })
      expect(prompts).toHaveLength(1)
    }
  })

  it.each(['CONTRACT', 'ADDRESS'] as const)(
    'is not begun in mode %s with a wallet on another network since the first look',
    async (depositMode) => {
      await allow()
      let served = 0
      const { client, prompts } = walletOf({
        node: (asked) =>
          asked.method === 'eth_chainId' && served++ > 0 ? Promise.resolve('0x2105') : node(asked),
      })
      const { steps, ended } = await begin(client, { depositMode })
      expect(await ended).toMatchObject({ message: expect.stringContaining('chain') })
      expect([steps(), prompts]).toEqual([[], []])
    },
  )

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
  expect([await ended, await stateOf(offer)]).toEqual(['there', OrderState.DEPOSITED])
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
