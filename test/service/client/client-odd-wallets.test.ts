import { sendDeposit } from '@quote-aggregator/client'
import { createWalletClient, custom, type Hex, toHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { user } from '../../support/chain/settlement.js'
import { called, DEPOSITED, keep, reasonOf, TAKE, useDeposits } from '../../support/clients/deposits.js'
import { createMockWallet, type WalletRequest } from '../../support/clients/mock-wallet.js'

const deposits = useDeposits()
const { node, walletOf, terms, offerOf, stateOf } = deposits

/** The hash of a transaction that has reverted. */
function reverted(): Promise<Hex> {
  const { client, contracts } = deposits.chain
  const params = [{ from: user.address, to: contracts.settlement, data: '0x12345678', gas: '0x30d40' }]
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
    expect(await reasonOf(sendDeposit(client, await offerOf(), await terms(), TAKE))).toBe('UNCERTAIN')
    expect(prompts).toHaveLength(1)
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

  it('may never answer: a signal ends the wait', async () => {
    const { client, prompts } = walletOf({ onPrompt: () => new Promise(() => {}) })
    const leaving = new AbortController()
    const app = keep({ signal: leaving.signal })
    const offer = await offerOf()
    const sending = sendDeposit(client, offer, await terms(), app.options)
    await expect.poll(() => prompts).toHaveLength(1)
    leaving.abort(new Error('the page is closed'))
    await expect(sending).rejects.toThrow('the page is closed')
  })
})
