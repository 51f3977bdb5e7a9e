import { encodeAbiParameters, type Hex } from 'viem'
import { expect, test } from 'vitest'
import { RpcError } from '../../../packages/chain/src/json-rpc.js'
import { type Endpoint, type RpcRequest, toPublicClient } from '../../../packages/chain/src/rpc-endpoint.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { createTokenReader } from '../../../src/chain/tokens/token-reader.js'
import { deferred } from '../../support/deferred.js'
import { createManualClock } from '../../support/manual-clock.js'
import { only } from '../../support/only.js'

const SYMBOL = '0x95d89b41'
const DAY_MS = 86_400_000
const text = (symbol: string): Hex => encodeAbiParameters([{ type: 'string' }], [symbol])
const integer = (value: bigint): Hex => encodeAbiParameters([{ type: 'uint256' }], [value])
const addressOf = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`

interface Call {
  readonly to: Address
  readonly data: Hex
  readonly gas: Hex
}

/** A reader whose node a test plays. */
function createFixture(answer: (call: Call) => Promise<unknown> | unknown) {
  const clock = createManualClock()
  const calls: Call[] = []
  let underWay = 0
  let most = 0
  const request: RpcRequest = async (_method, [call] = []) => {
    calls.push(call as Call)
    most = Math.max(most, ++underWay)
    try {
      return await answer(call as Call)
    } finally {
      underWay--
    }
  }
  const limits: unknown[] = []
  let isClosed = false
  // The client of other reads: a token must never be read by it.
  const other = toPublicClient(async () => expect.unreachable())
  const reader = createTokenReader(
    only({ config: { rpcUrls: ['http://node.example'] }, clock }),
    (read) => read(other, 0),
    (_url, options) => {
      limits.push(options)
      return only<Endpoint>({
        request,
        client: toPublicClient(request),
        close() {
          isClosed = true
        },
      })
    },
  )
  const settle = () => clock.advance(0)
  return { clock, calls, limits, reader, settle, most: () => most, isClosed: () => isClosed }
}

const honest = ({ data }: Call) => (data === SYMBOL ? text('USDC') : integer(6n))
const NOTHING = { symbol: undefined, decimals: undefined }

test('tokens are read in the background, once, by calls with little gas', async () => {
  const { calls, reader, settle } = createFixture(honest)
  expect(reader.describe([addressOf(1)])).toEqual([NOTHING])
  await settle()
  expect(reader.describe([addressOf(1)])).toEqual([{ symbol: 'USDC', decimals: 6 }])
  await settle()
  expect(calls.map(({ gas }) => gas)).toEqual(['0x7a120', '0x7a120'])
})

test('calls have limits and connections of their own', () => {
  const { limits, reader, isClosed } = createFixture(honest)
  expect(limits).toMatchObject([{ maxInFlight: 12, maxBytes: 65_536, timeoutMs: 1000 }])
  reader.close()
  expect(isClosed()).toBe(true)
})

test('two tokens are read at a time, and only those of the last answer wait', async () => {
  const gate = deferred()
  const { calls, reader, settle, most } = createFixture(async (call) => {
    await gate.opened
    return honest(call)
  })
  const tokens = Array.from({ length: 500 }, (_, index) => addressOf(index + 1))
  reader.describe(tokens)
  reader.describe(tokens)
  await settle()
  expect(calls).toHaveLength(4)
  reader.describe([addressOf(1000)])
  gate.open()
  await settle()
  expect(calls.map(({ to }) => to)).toEqual([1, 1, 2, 2, 1000, 1000].map(addressOf))
  expect(most()).toBe(4)
})

test('a token whose calls fail is read again after a minute, then ever later, at most a day', async () => {
  const { clock, calls, reader, settle } = createFixture(() => {
    throw new RpcError('lost', 'no answer', { isTimeout: true })
  })
  const token = addressOf(1)
  const times: number[] = []
  const start = clock.monotonic()
  for (let minute = 0; minute <= 5 * 1440; minute++) {
    const before = calls.length
    expect(reader.describe([token])).toEqual([NOTHING])
    await settle()
    if (calls.length > before) times.push((clock.monotonic() - start) / 60_000)
    clock.standStill(60_000)
  }
  expect(times.slice(0, 5)).toEqual([0, 1, 3, 7, 15])
  expect((times.at(-1) ?? 0) - (times.at(-2) ?? 0)).toBe(DAY_MS / 60_000)
})

test('a value that is known is not read again, nor is a revert', async () => {
  let fails = true
  const { clock, calls, reader, settle } = createFixture(({ data }) => {
    if (data === SYMBOL)
      throw new RpcError('answered', 'execution reverted', {
        answer: { code: 3, message: 'reverted', data: '0x' },
      })
    if (fails) throw new RpcError('lost', 'no answer')
    return integer(18n)
  })
  const token = addressOf(1)
  expect(await reader.read(token)).toMatchObject({ ...NOTHING, failure: expect.anything() })
  fails = false
  clock.standStill(60_000)
  reader.describe([token])
  await settle()
  expect(reader.describe([token])).toEqual([{ symbol: undefined, decimals: 18 }])
  expect(calls.filter(({ data }) => data === SYMBOL)).toHaveLength(1)
  clock.standStill(10 * DAY_MS)
  reader.describe([token])
  await settle()
  expect(calls).toHaveLength(3)
})
