import { createPublicClient, custom, type PublicClient, parseTransaction } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { only } from '../../../../test/support/only.js'
import { settlementCall } from '../../src/chain/contract.js'
import type { SignedTransaction } from '../../src/state.js'
import { createTransactionSender } from '../../src/transactions/transaction-sender.js'

const SETTLEMENT = `0x${'5e'.repeat(20)}` as const
const ORDER = `0x${'00'.repeat(32)}` as const

const ACCOUNT = privateKeyToAccount(`0x${'11'.repeat(32)}`)

interface Terms {
  readonly estimate?: bigint
  /** What the node answers to an estimate. */
  readonly refusal?: Error
  readonly maxGas?: bigint
  /** The first nonce after those of transactions that are kept. */
  readonly kept?: number
  /** What the node answers to a broadcast. */
  readonly sent?: Promise<string>
  /** What the node says of used nonces; it throws errors. */
  readonly used?: Readonly<Record<string, unknown>>
  readonly receipt?: object
}

/** A sender, with the gas limits and the nonces of what it has sent. */
function startSender({ estimate = 1n, refusal, maxGas = 1_000n, kept = 0, used = {}, ...terms }: Terms) {
  const { sent, receipt } = terms
  const attempts: SignedTransaction[] = []
  const limits: (bigint | undefined)[] = []
  const nonces: (number | undefined)[] = []
  const answers: Record<string, unknown> = {
    eth_estimateGas: `0x${estimate.toString(16)}`,
    eth_getBlockByNumber: { baseFeePerGas: '0x1', number: '0x1', timestamp: '0x1', transactions: [] },
    eth_maxPriorityFeePerGas: '0x1',
    eth_getTransactionReceipt: receipt,
  }
  async function request({ method, params }: { method: string; params: [`0x02${string}`, string] }) {
    if (method === 'eth_getTransactionCount') {
      const count = used[params[1]] ?? '0x0'
      if (count instanceof Error) throw count
      return count
    }
    if (method === 'eth_estimateGas' && refusal !== undefined) throw refusal
    if (method !== 'eth_sendRawTransaction') return answers[method]
    const { gas, nonce } = parseTransaction(params[0])
    limits.push(gas)
    nonces.push(nonce)
    return sent ?? ORDER
  }
  const client: PublicClient = createPublicClient({ transport: custom({ request }, { retryCount: 0 }) })
  const chain = { chainId: 1, settlement: SETTLEMENT, client, maxGas }
  const state = { keptPayments: () => [{ nonce: kept - 1 }] }
  const sender = createTransactionSender(only({ chain, account: ACCOUNT, state }))
  return {
    limits,
    nonces,
    send: () => sender.send(settlementCall(chain, 'fill', [ORDER]), (signed) => attempts.push(signed) > 0),
    progress: () => sender.progress(attempts),
  }
}

it.each([
  [100n, 1_000n, 120n],
  [900n, 1_000n, 1_000n],
  [1_000n, 1_000n, 1_000n],
])('a call that needs %i gas of %i at most may use %i', async (estimate, maxGas, limit) => {
  const { limits, send } = startSender({ estimate, maxGas })
  await send()
  expect(limits).toEqual([limit])
})

it('a call that has reverted may use all gas that is allowed', async () => {
  const used = { latest: '0x0' }
  const { limits, send, progress } = startSender({ estimate: 100n, used, receipt: { status: '0x0' } })
  await send()
  used.latest = '0x1'
  await progress()
  await send()
  expect(limits).toEqual([120n, 1_000n])
})

const RECEIPT = { status: '0x1', gasUsed: '0x64', effectiveGasPrice: '0x2', blockNumber: '0x5' }
/** Twice the base fee, and the tip. */
const HIGHEST_PRICE = 3n

it.each<[string, object, object]>([
  ['of the usual shape', {}, { outcome: 'success', gasUsed: 100n, fee: 200n, blockNumber: 5n }],
  ['without a price of gas', { effectiveGasPrice: undefined }, { fee: 100n * HIGHEST_PRICE }],
  ['with null as the price of gas', { effectiveGasPrice: null }, { fee: 100n * HIGHEST_PRICE }],
  ['with a price of gas that is no number', { effectiveGasPrice: '0xNaN' }, { fee: 100n * HIGHEST_PRICE }],
  ['without used gas', { gasUsed: undefined }, { gasUsed: 120n, fee: 240n }],
  ['with a padded status', { status: '0x01' }, { outcome: 'success' }],
  ['without a status', { status: undefined }, { outcome: 'failed', fee: 200n }],
  ['without a place', { blockNumber: undefined }, { outcome: 'success', blockNumber: undefined }],
])('a receipt %s ends a transaction, at its highest cost unless it says less', async (_what, change, end) => {
  const used = { latest: '0x0' }
  const { send, progress } = startSender({ estimate: 100n, used, receipt: { ...RECEIPT, ...change } })
  await send()
  used.latest = '0x1'
  expect(await progress()).toMatchObject({ state: 'MINED', ...end })
})

it('a call that needs more gas than the limit is not signed, and the error names both', async () => {
  const { limits, send } = startSender({ estimate: 1_001n, maxGas: 1_000n })
  await expect(send()).rejects.toThrow('fill needs 1001 gas, which is above maxGas (1000), so it is not sent')
  expect(limits).toEqual([])
})

it.each([
  ['what is used, whatever the node says of what waits', { latest: '0x3', pending: '0x6' }, 0, 3],
  ['what is kept', { latest: '0x3' }, 5, 5],
  ['what is kept, with a node that lags', { latest: '0x1' }, 4, 4],
])('the nonce of a transaction comes after %s', async (_what, used, kept, nonce) => {
  const { nonces, send } = startSender({ used, kept })
  await send()
  expect(nonces.map((sent) => sent ?? 0)).toEqual([nonce])
})

it('a call that reverts is not signed', async () => {
  const refusal = Object.assign(new Error('execution reverted'), { code: 3, data: '0x' })
  const { nonces, send } = startSender({ refusal })
  await expect(send()).rejects.toThrow('reverted')
  expect(nonces).toEqual([])
})

it('without the number of used nonces, nothing is sent', async () => {
  const { nonces, send } = startSender({ used: { latest: new Error('header not found') } })
  await expect(send()).rejects.toThrow('header not found')
  expect(nonces).toEqual([])
})

it('a broadcast without an answer does not hold up the next transaction', async () => {
  const { nonces, send } = startSender({ sent: new Promise(() => {}) })
  void send()
  void send()
  await expect.poll(() => nonces).toHaveLength(2)
})
