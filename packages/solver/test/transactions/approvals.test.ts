import { maxUint256 } from 'viem'
import { expect, it } from 'vitest'
import { createManualClock } from '../../../../test/support/manual-clock.js'
import type { SolverChain } from '../../src/chain/open-chain.js'
import { approveTokens } from '../../src/transactions/approvals.js'
import type { Payments } from '../../src/transactions/payments.js'

const [FIRST, SECOND] = [`0x${'01'.repeat(20)}`, `0x${'02'.repeat(20)}`] as const
const OWNER = `0x${'0a'.repeat(20)}` as const
const RETRY_MS = 600_000

it.each([
  ['one', [SECOND], [FIRST]],
  ['each', [FIRST, SECOND], []],
])('an approval that fails is reported, and is made later: %s', async (_title, refused, approved) => {
  const clock = createManualClock(0)
  const allowances = new Map<string, bigint>()
  const errors: unknown[] = []
  let isDown = false
  const refusing = new Set<string>(refused)
  const client = {
    async readContract({ address }: { address: string }) {
      if (isDown) throw new Error('the node is down')
      return allowances.get(address) ?? 0n
    },
  }
  const payments = {
    isUnderWay: () => false,
    async send(_id: string, { address }: { address: string }) {
      if (refusing.has(address)) throw new Error('refused')
      allowances.set(address, maxUint256)
    },
    follow: async () => ({ outcome: 'success' }),
    forget: () => {},
  } as unknown as Payments
  const tokens = new Map([FIRST, SECOND].map((token) => [token, maxUint256]))
  const chain = { chainId: 1, settlement: OWNER, client, tokens } as unknown as SolverChain
  const { signal } = new AbortController()
  await approveTokens(chain, OWNER, payments, { clock, signal, onError: (error) => errors.push(error) })
  expect([...allowances.keys()]).toEqual(approved)
  expect(errors.map(String)).toEqual(refused.map(() => expect.stringContaining('refused')))
  errors.length = 0
  isDown = true
  refusing.clear()
  await clock.advance(RETRY_MS)
  expect(errors.map(String)).toEqual(
    refused.map((token) => expect.stringContaining(`approve ${token} on chain 1: the node is down`)),
  )
  isDown = false
  await clock.advance(RETRY_MS)
  expect([...allowances.keys()]).toEqual([FIRST, SECOND])
})
