import fc from 'fast-check'
import { type AbiParameter, encodeAbiParameters, encodeEventTopics, getAddress, toEventSelector } from 'viem'
import { describe, expect, test } from 'vitest'
import { deployedSettlementAbi } from '../../../../gen/contracts/deployed-settlement.js'
import { settlementAbi } from '../../../../gen/contracts/settlement.js'
import { decodeLogs } from '../../src/settlement/deployed-settlement.js'
import type { NodeLog } from '../../src/settlement/settlement.js'
import type { Address, Hex } from '../../src/values/hex.js'

const CHAIN_ID = 8453
const MAX = 2n ** 256n - 1n
const ORDER_ID: Hex = `0x${'0a'.repeat(32)}`
const [USER, SOLVER, INPUT_TOKEN, OUTPUT_TOKEN] = ['ab', 'cd', 'ef', 'fa'].map(
  (byte): Address => getAddress(`0x${byte.repeat(20)}`),
)
const DEPOSITED = {
  orderId: ORDER_ID,
  user: USER,
  solver: SOLVER,
  inputToken: INPUT_TOKEN,
  inputAmount: 1000n,
  outputToken: OUTPUT_TOKEN,
  outputAmount: 3000n,
  fillDeadline: 1_800_000_420,
}
const SETTLED = { orderId: ORDER_ID, user: USER, solver: SOLVER }
const REFUNDED = { orderId: ORDER_ID, user: USER, inputAmount: 1000n, bondSlashed: 50n }

const TRANSACTION_HASH: Hex = `0x${'7a'.repeat(32)}`

/** A log of an event of the contract with these members. */
function logOf(
  name: string,
  members: Readonly<Record<string, unknown>>,
  blockNumber = 7,
  logIndex = 0,
): NodeLog {
  const item = [...settlementAbi, ...deployedSettlementAbi].find(
    (each) => each.type === 'event' && each.name === name,
  )
  if (item?.type !== 'event') throw new Error(`the contract has no event ${name}`)
  const unindexed: AbiParameter[] = item.inputs.filter(({ indexed }) => !indexed)
  return {
    address: `0x${'5e'.repeat(20)}`,
    blockNumber,
    blockHash: `0xb10c${blockNumber}`,
    transactionHash: TRANSACTION_HASH,
    logIndex,
    topics: encodeEventTopics({ abi: [item], args: members } as never) as Hex[],
    data: encodeAbiParameters(
      unindexed,
      unindexed.map(({ name: member = '' }) => members[member]),
    ),
  }
}

const base = {
  chainId: CHAIN_ID,
  orderId: ORDER_ID,
  user: USER?.toLowerCase(),
  blockNumber: 7,
  logIndex: 0,
  transactionHash: TRANSACTION_HASH,
  blockTime: 0,
}

describe('an order event has all its members, with addresses in lower case:', () => {
  test('Deposited', () => {
    expect(decodeLogs(CHAIN_ID, [logOf('Deposited', DEPOSITED, 7, 31)]).events).toStrictEqual([
      {
        event: {
          type: 'Deposited',
          ...base,
          logIndex: 31,
          solver: SOLVER?.toLowerCase(),
          inputToken: INPUT_TOKEN?.toLowerCase(),
          inputAmount: 1000n,
          outputToken: OUTPUT_TOKEN?.toLowerCase(),
          outputAmount: 3000n,
          fillDeadline: 1_800_000_420,
        },
        blockHash: '0xb10c7',
      },
    ])
  })

  test('Settled', () => {
    expect(decodeLogs(CHAIN_ID, [logOf('Settled', SETTLED)]).events).toStrictEqual([
      {
        event: { type: 'Settled', ...base, solver: SOLVER?.toLowerCase() },
        blockHash: '0xb10c7',
      },
    ])
  })

  test('Refunded, without the solver', () => {
    const event = { type: 'Refunded', ...base, solver: undefined, inputAmount: 1000n, bondSlashed: 50n }
    expect(decodeLogs(CHAIN_ID, [logOf('Refunded', REFUNDED)]).events).toStrictEqual([
      { event, blockHash: '0xb10c7' },
    ])
  })
})

test.each([
  [0n, MAX],
  [MAX, 0n],
  [MAX, MAX],
  [1n, 2n ** 255n],
  [2n ** 53n + 1n, 10n ** 77n],
])('amounts of %d and %d are read exactly', (first, second) => {
  const deposited = { ...DEPOSITED, inputAmount: first, outputAmount: second, fillDeadline: 2 ** 32 - 1 }
  const refunded = { ...REFUNDED, inputAmount: first, bondSlashed: second }
  const logs = [logOf('Deposited', deposited, 1), logOf('Refunded', refunded, 2)]
  expect(decodeLogs(CHAIN_ID, logs).events.map(({ event }) => event)).toMatchObject([
    { inputAmount: first, outputAmount: second, fillDeadline: 2 ** 32 - 1 },
    { inputAmount: first, bondSlashed: second },
  ])
})

test('block numbers and log indices may be large', () => {
  const [decoded] = decodeLogs(CHAIN_ID, [logOf('Settled', SETTLED, Number.MAX_SAFE_INTEGER, 2 ** 31)]).events
  expect(decoded).toMatchObject({ event: { blockNumber: Number.MAX_SAFE_INTEGER, logIndex: 2 ** 31 } })
})

test('events are sorted by block and log index, whatever their types and their order', () => {
  const rows = [
    ['Deposited', DEPOSITED, 2, 9],
    ['Settled', SETTLED, 2, 10],
    ['Refunded', REFUNDED, 9, 0],
    ['Settled', SETTLED, 10, 0],
    ['Deposited', DEPOSITED, 10, 1],
    ['Refunded', REFUNDED, 10, 16],
    ['Deposited', DEPOSITED, 16, 2],
    ['Settled', SETTLED, 256, 1],
  ] as const
  const logs = rows.map(([name, members, block, index]) => logOf(name, members, block, index))
  fc.assert(
    fc.property(fc.shuffledSubarray(logs, { minLength: logs.length }), (shuffled) => {
      const { events } = decodeLogs(CHAIN_ID, shuffled)
      expect(
        events.map(({ event: { type, blockNumber, logIndex } }) => [type, blockNumber, logIndex]),
      ).toEqual(rows.map(([name, , block, index]) => [name, block, index]))
    }),
    { seed: 20_260_109 },
  )
})

test('no logs give no events', () => {
  const nothing = { events: [], bondedSolvers: new Set(), cancelledNonces: [], changedOrders: [] }
  expect(decodeLogs(CHAIN_ID, [])).toEqual(nothing)
})

describe('bonds', () => {
  const amount = { solver: SOLVER, amount: 1n }
  const named = new Set([SOLVER?.toLowerCase()])

  test.each([
    ['SolverRegistered', amount],
    ['BondAdded', amount],
    ['UnstakeRequested', { ...amount, unlockTime: 1 }],
    ['UnstakeCancelled', { solver: SOLVER }],
    ['UnstakeExecuted', amount],
  ])('are changed by %s, which has a solver and no order', (name, members) => {
    const publisher = decodeLogs(CHAIN_ID, [logOf(name, members)])
    expect(publisher).toEqual({ events: [], bondedSolvers: named, cancelledNonces: [], changedOrders: [] })
  })

  test.each([
    ['Deposited', DEPOSITED],
    ['Settled', SETTLED],
    ['Refunded', REFUNDED],
    ['NonceCancelled', { solver: SOLVER, nonce: 1n }],
  ])('are not changed by %s itself', (name, members) => {
    expect(decodeLogs(CHAIN_ID, [logOf(name, members)]).bondedSolvers.size).toBe(0)
  })

  test.each([0, 1, 2])('are changed when one of several logs changes them, at index %d', (index) => {
    const logs = [1, 2].map((block) => logOf('Settled', SETTLED, block))
    logs.splice(index, 0, logOf('BondAdded', amount, 3))
    const { events, bondedSolvers } = decodeLogs(CHAIN_ID, logs)
    expect([events.length, bondedSolvers]).toEqual([2, named])
  })
})

test('NonceCancelled has the solver and the nonce, up to the largest', () => {
  const nonces = [0n, 1n, 2n ** 256n - 1n]
  const logs = nonces.map((nonce) => logOf('NonceCancelled', { solver: SOLVER, nonce }))
  const { events, cancelledNonces } = decodeLogs(CHAIN_ID, logs)
  expect(events).toEqual([])
  expect(cancelledNonces).toEqual(nonces.map((nonce) => ({ solver: SOLVER?.toLowerCase(), nonce })))
})

test.each([
  ['TokensRecovered', { orderId: ORDER_ID, token: INPUT_TOKEN, recipient: USER }],
  ['ExcessDeposit', { orderId: ORDER_ID, user: USER, token: INPUT_TOKEN, amount: 1n }],
])('%s of deployed contracts names an order that has changed, and is no event', (name, members) => {
  const { events, bondedSolvers, changedOrders } = decodeLogs(CHAIN_ID, [logOf(name, members)])
  expect([events, bondedSolvers.size, changedOrders]).toEqual([[], 0, [ORDER_ID]])
})

describe('the decoder ignores', () => {
  const settled = logOf('Settled', SETTLED)

  test.each<[string, Partial<NodeLog>]>([
    ['events of other contracts', { topics: [toEventSelector('Transfer(address,address,uint256)')] }],
    ['events without a name', { topics: [] }],
    ['events with a known name and other members', { topics: [toEventSelector('Settled(bytes32)')] }],
  ])('%s', (_what, changes) => {
    const logs = [{ ...settled, ...changes, blockNumber: 1 }, settled]
    const { events, bondedSolvers, cancelledNonces } = decodeLogs(CHAIN_ID, logs)
    expect(events.map(({ event }) => event.blockNumber)).toEqual([7])
    expect([bondedSolvers.size, cancelledNonces.length]).toEqual([0, 0])
  })
})

test.each([
  ['Deposited', DEPOSITED],
  ['Refunded', REFUNDED],
])('%s with less data than its members need is an error', (name, members) => {
  const log = logOf(name, members)
  expect(() => decodeLogs(CHAIN_ID, [{ ...log, data: log.data.slice(0, -2) as Hex }])).toThrow()
  expect(() => decodeLogs(CHAIN_ID, [{ ...log, data: '0x' }])).toThrow()
})
