import { ChainReadError, prepareRefund } from '@quote-aggregator/client'
import { type Hex, toHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { user } from '../../../../test/support/chain/settlement.js'
import { OrderState } from '../../../../test/support/chain/signed-quote.js'
import { called, passTime, useDeposits } from '../../../../test/support/clients/deposits.js'
import type { WalletRequest } from '../../../../test/support/clients/mock-wallet.js'

const deposits = useDeposits('reference', true)
const { node, walletOf, terms, offerOf, stateOf, begin, allow, holdBlocks, mine } = deposits

it('an approval that the user has lowered in the wallet is said, and asked for again', async () => {
  let isLower = true
  const { client, prompts } = walletOf({
    node(asked) {
      if (asked.method !== 'eth_sendTransaction' || !isLower) return node(asked)
      const [call] = asked.params as [{ data: Hex }]
      const data = `${call.data.slice(0, -64)}${'1'.padStart(64, '0')}`
      return node({ ...asked, params: [{ ...call, data }] })
    },
  })
  const { offer, told, steps, ended } = await begin(client)
  await expect.poll(steps).toContain('approve sent')
  await passTime(deposits, 31)
  expect(await ended).toBe('APPROVAL_TOO_LOW')
  isLower = false
  expect(await (await begin(client, { earlier: told.at(-1) }, { offer })).ended).toBe('there')
  expect(called(prompts)).toEqual(['approve', 'approve', 'deposit'])
  expect(await stateOf(offer)).toBe(OrderState.DEPOSITED)
})

/** Has a deposit be sent, and not be mined, with a node of the app that the test changes. */
async function beginPending(request: (asked: WalletRequest) => Promise<unknown>) {
  await allow()
  const settlement = await terms(request)
  await holdBlocks()
  const app = await begin(walletOf().client, {}, { settlement })
  await expect.poll(app.steps).toContain('deposit sent')
  await passTime(deposits, 0)
  return { ...app, settlement }
}

it.each(['eth_getTransactionReceipt', 'eth_getTransactionByHash'])(
  'a node that lags with %s for half a minute does not make a mined deposit a replaced one',
  async (method) => {
    let isLagging = false
    const { ended } = await beginPending(async (asked) => {
      if (!isLagging) return node(asked)
      if (asked.method === 'eth_call') return node({ ...asked, params: [asked.params[0], '0x1'] })
      return [method, 'eth_getTransactionReceipt'].includes(asked.method) ? null : node(asked)
    })
    isLagging = true
    // What was asked before is answered: it must not see the block.
    await passTime(deposits, 0)
    await mine()
    await passTime(deposits, 30)
    isLagging = false
    expect(await ended).toBe('there')
  },
)

it.each(['usual', 'old'])(
  'a node whose views lag after each transaction has no approval of a token of the %s kind given again',
  async (kind) => {
    let past: Hex | undefined
    let reads = 0
    const settlement = await terms((asked) =>
      asked.method === 'eth_call' && asked.params[1] === 'latest' && past && reads++ % 3 === 1
        ? node({ ...asked, params: [asked.params[0], past] })
        : node(asked),
    )
    const { oldToken, chain } = deposits
    if (kind === 'old') await chain.approve(oldToken, user, 1n)
    const { client, prompts } = walletOf({
      async onPrompt() {
        past = (await node({ method: 'eth_blockNumber', params: [] })) as Hex
      },
    })
    const offer = await offerOf(kind === 'old' ? { inputToken: oldToken } : {})
    const { ended } = await begin(client, {}, { offer, settlement })
    const approvals = kind === 'old' ? ['approve', 'approve'] : ['approve']
    expect([await ended, called(prompts)]).toEqual(['there', [...approvals, 'deposit']])
  },
)

it('a node that serves another chain for a while says nothing of a deposit', async () => {
  let isElsewhere = false
  const { offer, settlement, ended } = await beginPending(async (asked) => {
    const own = await node(asked)
    if (!isElsewhere) return own
    if (asked.method === 'eth_getTransactionCount') return '0xffff'
    if (asked.method.startsWith('eth_getTransaction')) return null
    const ahead = { number: '0x1', timestamp: toHex(offer.quote.fillDeadline) }
    return { eth_chainId: '0xa', eth_getBlockByNumber: ahead }[asked.method] ?? own
  })
  isElsewhere = true
  await expect(prepareRefund(offer, settlement)).rejects.toThrow(ChainReadError)
  await passTime(deposits, 61)
  isElsewhere = false
  await mine()
  expect(await ended).toBe('there')
})

describe('an app whose onProgress throws', () => {
  const full = new Error('the storage is full')
  it.each([
    [
      'at once',
      () => {
        throw full
      },
    ],
    ['later', () => Promise.reject(full)],
  ])('%s deposits once, and hears what has become of it', async (_, onProgress) => {
    const { client, prompts } = walletOf()
    const { offer, ended } = await begin(client, { onProgress })
    expect([await ended, called(prompts)]).toEqual(['there', ['approve', 'deposit']])
    expect(await stateOf(offer)).toBe(OrderState.DEPOSITED)
  })

  it('can stop before the wallet is asked by its signal', async () => {
    const { client, prompts } = walletOf()
    const leaving = new AbortController()
    const onProgress = () => leaving.abort(full)
    const { steps, ended } = await begin(client, { signal: leaving.signal, onProgress })
    expect([await ended, steps(), prompts]).toEqual([full, ['approve asked', 'approve refused'], []])
  })
})
