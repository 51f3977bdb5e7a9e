import { type DepositProgress, sendDeposit } from '@quote-aggregator/client'
import { createWalletClient, custom, type Hex, toHex } from 'viem'
import { toAccount } from 'viem/accounts'
import { describe, expect, it, vi } from 'vitest'
import { transferData } from '../../../packages/protocol/src/settlement/token-calls.js'
import { anyone, INPUT_AMOUNT, user } from '../../support/chain/settlement.js'
import {
  called,
  DEPOSITED,
  keep,
  passTime,
  reasonOf,
  TAKE,
  useDeposits,
} from '../../support/clients/deposits.js'
import { createMockWallet, type WalletRequest } from '../../support/clients/mock-wallet.js'

const deposits = useDeposits()
const { node, walletOf, terms, offerOf, stateOf } = deposits

/** The hash of a transaction that has reverted. */
function reverted(from: Hex = user.address): Promise<Hex> {
  const { client, contracts } = deposits.chain
  const params = [{ from, to: contracts.settlement, data: '0x12345678', gas: '0x30d40' }]
  return client.request({ method: 'eth_sendTransaction', params } as never)
}

describe('a wallet with answers of its own', () => {
  /** Sends batches, and answers them with what the test says. */
  function walletAnswering(answer: unknown, status: () => Promise<unknown>) {
    const { request, prompts } = createMockWallet({ node, account: user.address, batches: 'supported' })
    const answering = async ({ method, params }: WalletRequest) => {
      if (method === 'wallet_getCallsStatus') return status()
      const own = await request({ method, params })
      return method === 'wallet_sendCalls' ? answer : own
    }
    return {
      client: createWalletClient({ account: user.address, transport: custom({ request: answering }) }),
      prompts,
    }
  }
  const forgetful = () => Promise.reject(Object.assign(new Error('unknown bundle'), { code: 5730 }))
  const silent = () => new Promise(() => {})

  it.each([
    ['the id alone, as in version 1', 'batch 0', forgetful],
    ['an id that it does not know later', { id: 'batch 0' }, forgetful],
    ['an id, and nothing later', { id: 'batch 0' }, silent],
  ])('is asked once, and the chain says that the deposit is there: %s', async (_, answer, status) => {
    const { client, prompts } = walletAnswering(answer, status)
    const offer = await offerOf()
    await sendDeposit(client, offer, await terms(), TAKE)
    expect(prompts).toHaveLength(1)
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })

  it.each([null, [], {}, { '0x7a69': null }, { '0x1': { atomic: { status: 'supported' } } }, 'yes'])(
    'gets transactions when its capabilities say nothing of batches: %j',
    async (capabilities) => {
      const { request, prompts } = createMockWallet({ node, account: user.address, batches: 'supported' })
      const saying = async (asked: WalletRequest) =>
        asked.method === 'wallet_getCapabilities' ? capabilities : request(asked)
      const client = createWalletClient({ account: user.address, transport: custom({ request: saying }) })
      await sendDeposit(client, await offerOf(), await terms(), TAKE)
      expect(called(prompts)).toEqual(['approve', 'deposit'])
    },
  )

  it('gives an approval again after one that has reverted', async () => {
    const { client, prompts } = walletOf()
    const offer = await offerOf()
    const hash = await reverted()
    await sendDeposit(client, offer, await terms(), {
      ...TAKE,
      earlier: { step: 'approve', state: 'sent', hash },
    })
    expect(called(prompts)).toEqual(['approve', 'deposit'])
  })

  it.each([null, '', {}, { id: 17 }])('is not asked again after the answer %j', async (answer) => {
    const { client, prompts } = walletAnswering(answer, forgetful)
    // What it has sent is there.
    await reasonOf(sendDeposit(client, await offerOf(), await terms(), TAKE))
    expect(prompts).toHaveLength(1)
  })

  it.each([null, '', {}, 17])('is not asked again after the answer %j to a transaction', async (answer) => {
    const { request, prompts } = createMockWallet({ node, account: user.address })
    const odd = async (asked: WalletRequest) => {
      const hash = await request(asked)
      return asked.method === 'eth_sendTransaction' ? answer : hash
    }
    const client = createWalletClient({ account: user.address, transport: custom({ request: odd }) })
    await deposits.chain.client.setAutomine(false)
    const offer = await offerOf()
    const app = keep({ depositMode: 'ADDRESS' })
    expect(await reasonOf(sendDeposit(client, offer, await terms(), app.options))).toBe('UNCERTAIN')
    const earlier = { step: 'deposit', state: 'sent', hash: answer } as DepositProgress
    await deposits.chain.client.mine({ blocks: 1 })
    await sendDeposit(client, offer, await terms(), { ...app.options, earlier })
    expect(prompts).toHaveLength(1)
  })

  it.each(['CONTRACT', 'ADDRESS'] as const)(
    'in mode %s, on another network since the first look, is asked for nothing',
    async (depositMode) => {
      await deposits.chain.approve(deposits.chain.contracts.weth, user, INPUT_AMOUNT)
      let served = 0
      const { client, prompts } = walletOf({
        node: (asked) =>
          asked.method === 'eth_chainId' && served++ > 0 ? Promise.resolve('0x2105') : node(asked),
      })
      const app = keep({ depositMode })
      await expect(sendDeposit(client, await offerOf(), await terms(), app.options)).rejects.toThrow(/chain/)
      expect([app.steps(), prompts]).toEqual([[], []])
    },
  )

  it('is an account of the app whose device signs nothing after the signal', async () => {
    const leaving = new AbortController()
    const signTransaction = vi.fn(async () => '0x' as const)
    const unused = async () => '0x' as const
    const account = toAccount({
      address: user.address,
      signMessage: unused,
      signTypedData: unused,
      signTransaction,
    })
    const request = async (asked: WalletRequest) => {
      if (asked.method !== 'eth_chainId') leaving.abort(new Error('left'))
      return node(asked)
    }
    const client = createWalletClient({ account, transport: custom({ request }) })
    const app = keep({ depositMode: 'ADDRESS', signal: leaving.signal })
    await expect(sendDeposit(client, await offerOf(), await terms(), app.options)).rejects.toThrow('left')
    const before = deposits.requests()
    for (let turns = 0; turns < 20; turns++) await deposits.chain.client.getBlockNumber({ cacheTime: 0 })
    expect([signTransaction.mock.calls, deposits.requests() - before]).toEqual([[], 0])
  })

  it('may replace a transfer of a token that keeps a fee: less than the input is there', async () => {
    const { client } = walletOf()
    const offer = await offerOf()
    await deposits.chain.client.setAutomine(false)
    const app = keep({ depositMode: 'ADDRESS' })
    const ended = reasonOf(sendDeposit(client, offer, await terms(), app.options))
    await expect.poll(app.steps).toContain('deposit sent')
    await passTime(deposits, 0)
    const { nonce, to } = await deposits.chain.client.getTransaction({ hash: app.told.at(-1)?.hash as Hex })
    const less = transferData(offer.depositAddress, INPUT_AMOUNT - 1n)
    const fees = { maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0xba43b7400' }
    const faster = { from: user.address, to, data: less, nonce: toHex(nonce), gas: '0x30d40', ...fees }
    await deposits.chain.client.request({ method: 'eth_sendTransaction', params: [faster] } as never)
    await deposits.chain.client.mine({ blocks: 1 })
    await passTime(deposits, 61)
    expect(await ended).toBe('UNCERTAIN')
  })

  it('may name its transactions by what no node knows', async () => {
    const { request, prompts } = createMockWallet({ node, account: user.address })
    const named = async (asked: WalletRequest) => {
      const answer = await request(asked)
      return asked.method === 'eth_sendTransaction' ? 'operation 1' : answer
    }
    const client = createWalletClient({ account: user.address, transport: custom({ request: named }) })
    const offer = await offerOf()
    await sendDeposit(client, offer, await terms(), TAKE)
    expect(called(prompts)).toEqual(['approve', 'deposit'])
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })

  it('may name a bundle of others that reverts, before the next one has its transfer', async () => {
    const { request } = createMockWallet({ node, account: user.address })
    const bundle = await reverted(anyone.address)
    const named = async (asked: WalletRequest) =>
      asked.method === 'eth_sendTransaction' ? bundle : request(asked)
    const client = createWalletClient({ account: user.address, transport: custom({ request: named }) })
    const app = keep({ depositMode: 'ADDRESS' })
    const ended = reasonOf(sendDeposit(client, await offerOf(), await terms(), app.options))
    await expect.poll(app.steps).toContain('deposit sent')
    await passTime(deposits, 30)
    await passTime(deposits, 31)
    expect(await ended).toBe('UNCERTAIN')
  })

  it('may replace its approval by one at a higher fee', async () => {
    const { client, prompts } = walletOf()
    const offer = await offerOf()
    await deposits.chain.client.setAutomine(false)
    const app = keep()
    const sending = sendDeposit(client, offer, await terms(), app.options)
    await expect.poll(() => app.steps()).toContain('approve sent')
    const transaction = await deposits.chain.client.getTransaction({ hash: app.told.at(-1)?.hash as Hex })
    const { from, to, input: data, nonce } = transaction
    const fees = { maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0xba43b7400' }
    const faster = { from, to, data, nonce: toHex(nonce), gas: '0x30d40', ...fees }
    await deposits.chain.client.request({ method: 'eth_sendTransaction', params: [faster] } as never)
    await deposits.chain.client.setAutomine(true)
    await deposits.chain.client.mine({ blocks: 1 })
    await sending
    expect(called(prompts)).toEqual(['approve', 'deposit'])
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })

  it.each(['the wallet', 'the node before the wallet is asked', 'the node after that'])(
    'may never answer, as its node: a signal ends the wait for %s',
    async (silent) => {
      const isFirst = silent === 'the node before the wallet is asked'
      let isSilent = false
      const hanging = (request: WalletRequest) => (isSilent ? new Promise(() => {}) : node(request))
      const settlement = await terms(hanging)
      const { client, prompts } = walletOf({
        onPrompt() {
          isSilent = silent !== 'the wallet'
          return new Promise(() => {})
        },
      })
      const leaving = new AbortController()
      const offer = await offerOf()
      isSilent = isFirst
      const sending = sendDeposit(client, offer, settlement, keep({ signal: leaving.signal }).options)
      await expect.poll(() => prompts).toHaveLength(isFirst ? 0 : 1)
      leaving.abort(new Error('the page is closed'))
      await expect(sending).rejects.toThrow('the page is closed')
      // Nothing is left of it.
      const wallet = walletOf()
      await sendDeposit(wallet.client, offer, await terms(), TAKE)
      expect(await stateOf(offer)).toBe(DEPOSITED)
    },
  )

  it('asks a node nothing more after a signal, while the words of a no are not believed yet', async () => {
    const { client } = walletOf({
      onPrompt() {
        throw new Error('User rejected the request')
      },
    })
    const leaving = new AbortController()
    const app = keep({ depositMode: 'ADDRESS', signal: leaving.signal })
    const sending = sendDeposit(client, await offerOf(), await terms(), app.options)
    await expect.poll(app.steps).toContain('deposit asked')
    leaving.abort(new Error('the page is closed'))
    await expect(sending).rejects.toThrow('the page is closed')
    // What was asked before is answered first.
    for (let turns = 0; turns < 5; turns++) await deposits.chain.client.getBlockNumber({ cacheTime: 0 })
    const before = deposits.requests()
    for (let turns = 0; turns < 20; turns++) await deposits.chain.client.getBlockNumber({ cacheTime: 0 })
    expect(deposits.requests()).toBe(before)
  })

  it('may be of another account now: what was sent is followed', async () => {
    const offer = await offerOf()
    await sendDeposit(walletOf().client, offer, await terms(), TAKE)
    const { client } = walletOf({ account: anyone.address })
    const earlier = { step: 'deposit', state: 'asked' } as const
    await sendDeposit(client, offer, await terms(), { ...TAKE, earlier })
  })
})
