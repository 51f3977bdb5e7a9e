import { type DepositMode, sendDeposit } from '@quote-aggregator/client'
import { createWalletClient, custom } from 'viem'
import { describe, expect, it } from 'vitest'
import { RULES } from '../../support/chain/chain.js'
import { INPUT_AMOUNT, user } from '../../support/chain/settlement.js'
import { called, keep, passTime, reasonOf, TAKE, useDeposits } from '../../support/clients/deposits.js'
import { createMockWallet, type WalletRequest } from '../../support/clients/mock-wallet.js'

/** Ways in which wallets and libraries say that their user has declined. */
const CODES_OF_NO: readonly unknown[] = [
  { code: 4001, message: 'User rejected the request.' },
  { code: '4001', message: 'rejected' },
  { code: 'ACTION_REJECTED', message: 'user rejected action (action="sendTransaction")', reason: 'rejected' },
  { code: -32603, message: 'Internal JSON-RPC error.', data: { code: 4001, message: 'declined' } },
  { message: 'failed', error: { originalError: { code: 4001 } } },
  // WalletConnect's, which viem reads.
  { code: 5000, message: 'User rejected methods.' },
]
const WORDS_OF_NO: readonly unknown[] = [
  'User rejected the request',
  { message: 'MetaMask Tx Signature: User denied transaction signature.' },
  { message: 'User canceled' },
  { code: -32000, message: 'Transaction was rejected by the user' },
  { message: 'Action cancelled by user' },
  { message: 'Ledger device: Condition of use not satisfied (denied by the user?) (0x6985)' },
  { message: '用户取消了操作' },
]
/** What is no decision of the user: the wallet may have sent before. */
const TROUBLE: readonly unknown[] = [
  { code: -32000, message: 'already known' },
  { code: -32000, message: 'transaction rejected: nonce too low' },
  // The standard's words for what a node rejects (EIP-1474).
  { code: -32003, message: 'Transaction rejected' },
  // Of a library whose request was aborted, and of a connection.
  Object.assign(new Error('canceled'), { name: 'CanceledError', code: 'ERR_CANCELED' }),
  'Request cancelled',
  { message: 'Connection refused by device.' },
  { message: 'User closed' },
  { message: 'execution reverted: cancelled by owner' },
  // A token's address, or an account's, may begin as the status of a device.
  { message: 'timeout (transaction={"to":"0x6985884C4392D348587B19cb9eAAf157F13271cd"}, code=TIMEOUT)' },
  { message: 'Transaction 0x6985ab01 was not mined within 50 blocks. It might still be mined.' },
  { code: -32603, message: 'Internal error' },
  { code: 4900, message: 'disconnected' },
  { code: -32000, message: 'nonce 4001 is too low' },
  { message: 'user operation was rejected by the bundler' },
  'The user aborted a request.',
  { message: 'failed to relay for user: websocket connection closed' },
  { message: 'user balance service: access denied' },
  { message: 'closed by the user agent' },
  { message: 'connection closed by wallet' },
  { message: 'transaction rejected by the wallet node: already known' },
  { message: 'HTTP 403 denied on your wallet endpoint' },
  { message: 'error code 4001 from bundler: replacement underpriced' },
  // Of a request after the one that has sent.
  { code: -32602, message: 'Invalid params' },
  { code: -32603, message: 'Internal error', data: { code: -32601, message: 'method not found' } },
  { code: 4100, message: 'not authorized' },
  { error: { code: 4200 } },
  { code: 3, message: 'execution reverted', data: '0x1f6d65b6' },
  { code: Symbol('odd'), message: 'odd' },
  Object.defineProperty({}, 'cause', {
    get() {
      throw new Error('cannot be read')
    },
  }),
  'timeout',
  null,
]

describe.each(RULES)('with the %s contract', (rules) => {
  const deposits = useDeposits(rules)
  const { node, walletOf, terms, offerOf } = deposits
  const allow = () => deposits.chain.approve(deposits.chain.contracts.weth, user, INPUT_AMOUNT)

  describe('a wallet that has sent nothing', () => {
    it.each([...CODES_OF_NO, ...WORDS_OF_NO])('says no to a call: %j', async (no) => {
      await allow()
      let isNo = true
      const { client, prompts } = walletOf({
        onPrompt() {
          if (isNo) throw no
        },
      })
      const offer = await offerOf()
      const app = keep()
      expect(await reasonOf(sendDeposit(client, offer, await terms(), app.options))).not.toBe('UNCERTAIN')
      expect(app.steps()).toEqual(['deposit asked', 'deposit refused'])
      isNo = false
      await sendDeposit(client, offer, await terms(), { ...TAKE, earlier: app.told.at(-1) })
      expect(called(prompts)).toEqual(['deposit', 'deposit'])
    })

    it.each([...CODES_OF_NO.map((no) => [no, 0] as const), ...WORDS_OF_NO.map((no) => [no, 31] as const)])(
      'says no to a transfer: %j, which is believed after %i seconds',
      async (no, seconds) => {
        const { client } = walletOf({
          onPrompt() {
            throw no
          },
        })
        const app = keep({ depositMode: 'ADDRESS' })
        const ended = reasonOf(sendDeposit(client, await offerOf(), await terms(), app.options))
        if (seconds > 0) {
          await expect.poll(app.steps).toEqual(['deposit asked'])
          await passTime(deposits, seconds)
        }
        expect(await ended).not.toBe('UNCERTAIN')
        expect(app.steps()).toEqual(['deposit asked', 'deposit refused'])
      },
    )
  })

  it.each([...WORDS_OF_NO.slice(0, 3), ...TROUBLE.slice(0, 3)])(
    'after a call that is mined, what a wallet says counts no more: %j',
    async (said) => {
      await allow()
      const { client } = walletOf({
        async onCarriedOut() {
          await deposits.chain.client.mine({ blocks: 1 })
          throw said
        },
      })
      await sendDeposit(client, await offerOf(), await terms(), TAKE)
    },
  )

  describe('a wallet that says no after it has sent', () => {
    const sent = (depositMode: DepositMode, onCarriedOut: () => void | Promise<void>) => ({
      client: walletOf({ onCarriedOut }).client,
      app: keep({ depositMode }),
    })

    it.each(
      [...CODES_OF_NO, ...WORDS_OF_NO].flatMap((no) => [['CONTRACT', no] as const, ['ADDRESS', no] as const]),
    )('is not believed in mode %s: %j', async (depositMode, no) => {
      await allow()
      const { client, app } = sent(depositMode, () => {
        throw no
      })
      await deposits.chain.client.setAutomine(false)
      expect(await reasonOf(sendDeposit(client, await offerOf(), await terms(), app.options))).toBe(
        'UNCERTAIN',
      )
      expect(app.steps()).toEqual(['deposit asked'])
    })

    it.each(['CONTRACT', 'ADDRESS'] as const)(
      'has deposited when the chain has it, in mode %s, however seldom that is read',
      async (depositMode) => {
        await allow()
        const { client, app } = sent(depositMode, async () => {
          await deposits.chain.client.mine({ blocks: 1 })
          throw CODES_OF_NO[0]
        })
        const settlement = await terms()
        const seldom = { ...settlement, client: { ...settlement.client, pollingInterval: 60_000 } }
        await sendDeposit(client, await offerOf(), seldom, app.options)
      },
    )

    describe('of an account with code, for which others send', () => {
      const bytecode = `0xef0100${'0d'.repeat(20)}` as const
      const declined = (no: unknown) => walletOf({ onPrompt: () => Promise.reject(no) }).client
      const app = () => keep({ depositMode: 'ADDRESS' })

      it('has words that do not count', async () => {
        await deposits.chain.client.setCode({ address: user.address, bytecode })
        const sending = sendDeposit(declined(WORDS_OF_NO[0]), await offerOf(), await terms(), app().options)
        expect(await reasonOf(sending)).toBe('UNCERTAIN')
      })

      it.each([
        ['is believed after 31 seconds in which nothing came', 0n],
        ['is not believed when tokens come meanwhile', 1n],
      ])('has a code that %s', async (_, comes) => {
        await deposits.chain.client.setCode({ address: user.address, bytecode })
        const offer = await offerOf()
        const { options, steps } = app()
        const ended = reasonOf(sendDeposit(declined(CODES_OF_NO[0]), offer, await terms(), options))
        await expect.poll(steps).toEqual(['deposit asked'])
        await passTime(deposits, 10)
        expect(steps()).toEqual(['deposit asked'])
        const isNo = comes === 0n
        if (isNo) await passTime(deposits, 21)
        else await deposits.chain.mint(deposits.chain.contracts.weth, offer.depositAddress, comes)
        expect((await ended) === 'UNCERTAIN').toBe(!isNo)
        expect(steps()).toEqual(['deposit asked', ...(isNo ? ['deposit refused'] : [])])
      })
    })

    it.each([CODES_OF_NO[0], WORDS_OF_NO[0]])(
      'is not believed in mode CONTRACT where the node does not say what its account has sent: %j',
      async (no) => {
        await allow()
        const { client, app } = sent('CONTRACT', () => {
          throw no
        })
        const silent = await terms((asked) =>
          asked.method === 'eth_getTransactionCount' ? Promise.reject(new Error('busy')) : node(asked),
        )
        await deposits.chain.client.setAutomine(false)
        expect(await reasonOf(sendDeposit(client, await offerOf(), silent, app.options))).toBe('UNCERTAIN')
        expect(app.steps()).toEqual(['deposit asked'])
      },
    )

    it('is not asked for a transfer while the node does not say what its account has sent', async () => {
      const { client, prompts } = walletOf()
      const silent = await terms((asked) =>
        asked.method === 'eth_getTransactionCount' ? Promise.reject(new Error('busy')) : node(asked),
      )
      const sending = sendDeposit(client, await offerOf(), silent, { ...TAKE, depositMode: 'ADDRESS' })
      await expect(sending).rejects.toThrow('busy')
      expect(prompts).toEqual([])
    })
  })

  it.each(TROUBLE)('trouble of a wallet is no decision of its user: %j', async (trouble) => {
    await allow()
    for (const depositMode of ['CONTRACT', 'ADDRESS'] as const) {
      const { client } = walletOf({
        onPrompt() {
          throw trouble
        },
      })
      const app = keep({ depositMode })
      expect(await reasonOf(sendDeposit(client, await offerOf(), await terms(), app.options))).toBe(
        'UNCERTAIN',
      )
      expect(app.steps()).toEqual(['deposit asked'])
    }
  })

  it.each([-32000, -32601, -32602])(
    'a wallet is asked by one method only, after the error %i',
    async (code) => {
      const methods: string[] = []
      const { request } = createMockWallet({ node, account: user.address })
      const failing = async (asked: WalletRequest) => {
        if (!/sendTransaction/.test(asked.method)) return request(asked)
        methods.push(asked.method)
        await request({ ...asked, method: 'eth_sendTransaction' })
        throw Object.assign(new Error('failed'), { code })
      }
      await deposits.chain.client.setAutomine(false)
      const client = createWalletClient({ account: user.address, transport: custom({ request: failing }) })
      await reasonOf(sendDeposit(client, await offerOf(), await terms(), { ...TAKE, depositMode: 'ADDRESS' }))
      expect(methods).toEqual(['eth_sendTransaction'])
    },
  )
})
