import { createPublicClient, custom, parseTransaction } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { settlementCall } from '../src/chain/calls.js'
import type { SolverChain } from '../src/chain/open-chain.js'
import { createTransactionSender } from '../src/chain/transactions.js'

const SETTLEMENT = `0x${'5e'.repeat(20)}` as const
const ORDER = `0x${'00'.repeat(32)}` as const

/** A sender with a node that estimates this gas, and the gas limits of what it has sent. */
function startSender(estimate: bigint, maxGas: bigint) {
  const limits: (bigint | undefined)[] = []
  const answers: Record<string, unknown> = {
    eth_estimateGas: `0x${estimate.toString(16)}`,
    eth_getBlockByNumber: { baseFeePerGas: '0x1', number: '0x1', timestamp: '0x1', transactions: [] },
    eth_maxPriorityFeePerGas: '0x1',
    eth_getTransactionCount: '0x0',
  }
  async function request({ method, params }: { method: string; params: [`0x02${string}`] }) {
    if (method !== 'eth_sendRawTransaction') return answers[method]
    limits.push(parseTransaction(params[0]).gas)
    return ORDER
  }
  const client = createPublicClient({ transport: custom({ request }) })
  const chain = { chainId: 1, settlement: SETTLEMENT, client, maxGas } as unknown as SolverChain
  const sender = createTransactionSender(chain, privateKeyToAccount(`0x${'11'.repeat(32)}`), () => 0)
  return { limits, send: () => sender.send(settlementCall(chain, 'fill', [ORDER]), () => {}) }
}

it.each([
  [100n, 1_000n, 120n],
  [900n, 1_000n, 1_000n],
  [1_000n, 1_000n, 1_000n],
])('a call that needs %i gas of %i at most may use %i', async (estimate, maxGas, limit) => {
  const { limits, send } = startSender(estimate, maxGas)
  await send()
  expect(limits).toEqual([limit])
})

it('a call that needs more gas than the limit is not signed, and the error names both', async () => {
  const { limits, send } = startSender(1_001n, 1_000n)
  await expect(send()).rejects.toThrow('fill needs 1001 gas, which is above maxGas (1000), so it is not sent')
  expect(limits).toEqual([])
})
