import { type Address, maxUint256 } from 'viem'
import { expect, it } from 'vitest'
import { createManualClock } from '../../../../test/support/manual-clock.js'
import { only } from '../../../../test/support/only.js'
import { approveTokens } from '../../src/transactions/approvals.js'

const [FIRST, SECOND] = [`0x${'01'.repeat(20)}`, `0x${'02'.repeat(20)}`] as const
const OWNER = `0x${'0a'.repeat(20)}` as const
const RETRY_MS = 3_000

/** A solver that approves tokens. @param read an allowance of its @param change one by a transaction */
function start(
  tokens: ReadonlyMap<Address, bigint>,
  read: (token: string) => bigint,
  change: (token: string, amount: bigint) => void,
) {
  const clock = createManualClock(0)
  const errors: string[] = []
  const { signal } = new AbortController()
  const client = { readContract: async ({ address = '' }: { address?: string }) => read(address) }
  const payments = {
    finish() {},
    async send(_id: string, { address = '', args = [] }: { address?: string; args?: readonly unknown[] }) {
      change(address, args[1] as bigint)
      return true
    },
    follow: async () => ({ outcome: 'success' }),
    forget: () => undefined,
  }
  const chain = { chainId: 1, settlement: OWNER, client, tokens }
  const onError = (error: unknown) => errors.push(String(error))
  const approving = approveTokens(only({ chain, solver: OWNER, payments, clock, signal, onError }))
  return { clock, errors, approving }
}

it.each([
  ['one', [SECOND], [FIRST]],
  ['each', [FIRST, SECOND], []],
])('an approval that fails is reported, and is made soon: %s', async (_title, refused, approved) => {
  const allowances = new Map<string, bigint>()
  let isDown = false
  const refusing = new Set<string>(refused)
  const { clock, errors, approving } = start(
    new Map([FIRST, SECOND].map((token) => [token, maxUint256])),
    (token) => {
      if (isDown) throw new Error('the node is down')
      return allowances.get(token) ?? 0n
    },
    (token, amount) => {
      if (refusing.has(token)) throw new Error('refused')
      allowances.set(token, amount)
    },
  )
  await approving
  expect([...allowances.keys()]).toEqual(approved)
  expect(errors.splice(0)).toEqual(refused.map(() => expect.stringContaining('refused')))
  isDown = true
  refusing.clear()
  await clock.advance(RETRY_MS)
  expect(errors).toEqual(
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
  let allowance = 99n
  const sent: bigint[] = []
  await start(
    new Map([[FIRST, 100n]]),
    () => allowance,
    (_token, amount) => {
      if (isStrict && allowance > 0n && amount > 0n)
        throw Object.assign(new Error('execution reverted'), { code: 3 })
      sent.push(amount)
      allowance = amount
    },
  ).approving
  expect(sent).toEqual(amounts)
})
