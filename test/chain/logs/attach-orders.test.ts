import type { PublicClient } from 'viem'
import { describe, expect, it } from 'vitest'
import type { EventWithPosition } from '../../../packages/protocol/src/orders/block.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import { createAttachOrders } from '../../../src/chain/logs/attach-orders.js'
import { only } from '../../support/only.js'

const CHAIN_ID = 1
const SETTLEMENT: Hex = `0x${'5e'.repeat(20)}`
const [USER, SOLVER, OTHER] = ['aa', 'bb', 'cc'].map((byte) => `0x${byte.repeat(20)}` as Hex) as [
  Hex,
  Hex,
  Hex,
]
const word = (value: number | Hex) => BigInt(value).toString(16).padStart(64, '0')
const idOf = (number: number): Hex => `0x${word(number)}`

/** The words of an order: user, solver, tokens and amounts, output chain, deadline, state. */
const WORDS: readonly (number | Hex)[] = [USER, SOLVER, 1, 5, 2, 6, 1, 7, 2]
const answerOf = (place = 0, value = WORDS[place] ?? 0): Hex =>
  `0x${WORDS.with(place, value).map(word).join('')}`

function eventOf(
  type: 'Deposited' | 'Settled' | 'Refunded',
  number: number,
  solver?: Hex,
): EventWithPosition {
  const place = { blockNumber: 5, logIndex: number, transactionHash: idOf(9), blockTime: 100 }
  const event = { type, chainId: CHAIN_ID, orderId: idOf(number), user: USER, solver, ...place }
  return { event: event as EventWithPosition['event'], blockHash: idOf(8) }
}

/** A node, and the orders that it was asked for. */
function startNode(answer: (orderId: Hex) => unknown) {
  const asked: Hex[] = []
  const request = async ({ params: [call] }: { params: readonly [{ data: Hex }] }) => {
    const orderId: Hex = `0x${call.data.slice(-64)}`
    asked.push(orderId)
    return answer(orderId)
  }
  return { asked, client: only<PublicClient>({ request }) }
}

function createTestAttach(nodes: readonly { readonly client: PublicClient }[], known: [Hex, Hex][] = []) {
  const clients = nodes.map(({ client }) => client) as [PublicClient]
  const knownSolvers = async () => new Map(known)
  return createAttachOrders(clients, { chainId: CHAIN_ID, settlement: SETTLEMENT }, knownSolvers)
}

describe('what is not the order of an event is not taken as its terms:', () => {
  it.each([
    ['one of another user', () => answerOf(0, OTHER)],
    ['one of another solver', () => answerOf(1, OTHER)],
    ['an output chain that is no chain id', () => answerOf(6, `0x${'f'.repeat(64)}`)],
    ['an unknown state', () => answerOf(8, 9)],
    [
      'an error of the node',
      () => {
        throw Object.assign(new Error('the node has no state'), { code: -32000 })
      },
    ],
  ])('%s, and the next node is asked', async (_what, answer) => {
    const source = eventOf('Settled', 1, SOLVER)
    expect(await createTestAttach([startNode(answer)])([source])).toEqual([source])
    const [attached] = await createTestAttach([startNode(answer), startNode(() => answerOf())])([source])
    expect(attached?.order).toMatchObject({ user: USER, solver: SOLVER, inputAmount: 5n, outputAmount: 6n })
  })

  it('an order that the contract does not know yet', async () => {
    const source = eventOf('Settled', 1, SOLVER)
    expect(await createTestAttach([startNode(() => answerOf(8, 0))])([source])).toEqual([source])
  })
})

it('events wait once for a node that does not answer', async () => {
  const silent = startNode(() => Promise.reject(new Error('no answer')))
  const attach = createTestAttach([silent])
  const sources = Array.from({ length: 120 }, (_, index) => eventOf('Settled', index + 1, SOLVER))
  await expect(attach(sources)).rejects.toThrow('no answer')
  silent.asked.length = 0
  expect(await attach(sources)).toEqual(sources)
  expect(silent.asked.length).toBeLessThan(sources.length)
})

it('at most fifty orders are read at once', async () => {
  let [underWay, most] = [0, 0]
  const node = startNode(async () => {
    most = Math.max(most, ++underWay)
    await new Promise(setImmediate)
    underWay--
    return answerOf()
  })
  const sources = Array.from({ length: 120 }, (_, index) => eventOf('Settled', index + 1, SOLVER))
  const attached = await createTestAttach([node])(sources)
  expect(attached.every(({ order }) => order !== undefined)).toBe(true)
  expect([node.asked.length, most]).toEqual([120, 50])
})

it('orders whose terms are known are read only in place of removed events', async () => {
  const node = startNode(() => answerOf())
  const attach = createTestAttach([node], [[idOf(2), SOLVER]])
  const sources = [eventOf('Deposited', 1, OTHER), eventOf('Refunded', 1), eventOf('Refunded', 2)]
  const solvers = (await attach(sources)).map(({ event }) => event.solver)
  expect([solvers, node.asked]).toEqual([[OTHER, OTHER, SOLVER], []])
  await attach(sources, true)
  expect(node.asked).toEqual([idOf(2)])
})
