import { maxUint256 } from 'viem'
import { expect, it } from 'vitest'
import { createManualClock } from '../../../../test/support/manual-clock.js'
import { only } from '../../../../test/support/only.js'
import { approveTokens } from '../../src/transactions/approvals.js'

const [FIRST, SECOND] = [`0x${'01'.repeat(20)}`, `0x${'02'.repeat(20)}`] as const
const OWNER = `0x${'0a'.repeat(20)}` as const
const RETRY_MS = 3_000

it.each([
  ['one', [SECOND], [FIRST]],
  ['each', [FIRST, SECOND], []],
])('an approval that fails is reported, and is made soon: %s', async (_title, refused, approved) => {
  const clock = createManualClock(0)
  const allowances = new Map<string, bigint>()
  const errors: unknown[] = []
  let isDown = false
  const refusing = new Set<string>(refused)
  const client = {
    async readContract({ address = '' }: { address?: string }) {
      if (isDown) throw new Error('the node is down')
      return allowances.get(address) ?? 0n
    },
  }
  const payments = {
    finish: () => {},
    async send(_id: string, { address }: { address: string }) {
      if (refusing.has(address)) throw new Error('refused')
      allowances.set(address, maxUint256)
      return true
    },
    follow: async () => ({ outcome: 'success' }),
    forget: () => undefined,
  }
  const tokens = new Map([FIRST, SECOND].map((token) => [token, maxUint256]))
  const chain = { chainId: 1, settlement: OWNER, client, tokens }
  const { signal } = new AbortController()
  const onError = (error: unknown) => errors.push(error)
  await approveTokens(only({ chain, solver: OWNER, payments, clock, signal, onError }))
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
  await clock.advance(2 * RETRY_MS)
  expect([...allowances.keys()]).toEqual([FIRST, SECOND])
})

it.each([
  ['any token', false, [100n]],
  ['a token that changes it only from or to 0', true, [0n, 100n]],
])('an allowance of %s goes down to 0 only where it must', async (_title, isStrict, amounts) => {
  const clock = createManualClock(0)
  let allowance = 99n
  const sent: unknown[] = []
  const payments = {
    finish: () => {},
    async send(_id: string, { args = [] }: { args?: readonly unknown[] }) {
      const amount = args[1] as bigint
      if (isStrict && allowance > 0n && amount > 0n)
        throw Object.assign(new Error('execution reverted'), { code: 3 })
      sent.push(amount)
      allowance = amount
      return true
    },
    follow: async () => ({ outcome: 'success' }),
    forget: () => undefined,
  }
  const client = { readContract: async () => allowance }
  const chain = { client, tokens: new Map([[FIRST, 100n]]) }
  const { signal } = new AbortController()
  await approveTokens(only({ chain, solver: OWNER, payments, clock, signal, onError() {} }))
  expect(sent).toEqual(amounts)
})
