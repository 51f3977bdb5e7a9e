import { describe, expect, it } from 'vitest'
import { createAggregatorClient } from '../../src/index.js'
import { ADDRESS, sampleEvent } from '../samples.js'
import { serve } from '../server.js'

/** Each type of event as an instance sends it. */
const EVENTS = {
  Deposited: sampleEvent('Deposited', {
    ...{ user: ADDRESS, solver: ADDRESS, fillDeadline: 1900 },
    ...{ inputToken: ADDRESS, inputAmount: '5', outputToken: ADDRESS, outputAmount: '7' },
  }),
  Settled: sampleEvent('Settled', { user: ADDRESS, solver: ADDRESS }),
  Refunded: sampleEvent('Refunded', { user: ADDRESS, inputAmount: '5', bondSlashed: '3' }),
  Reverted: sampleEvent('Reverted', { event: 'Settled' }),
}
const AMOUNTS = ['inputAmount', 'outputAmount', 'bondSlashed']
const TYPES = Object.keys(EVENTS) as (keyof typeof EVENTS)[]

/** The first event of a stream that sends this one, or its error. */
async function received(event: object): Promise<unknown> {
  const { url } = await serve((_request, response) => {
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .write(`data: ${JSON.stringify(event)}\n\n`)
  })
  const events = createAggregatorClient({ baseUrl: url }).streamEvents()[Symbol.asyncIterator]()
  const { value } = await events.next()
  await events.return?.()
  return value
}

const withAmounts = (event: object) =>
  Object.fromEntries(
    Object.entries(event).map(([name, value]) => [name, AMOUNTS.includes(name) ? BigInt(value) : value]),
  )

describe.each(TYPES)('the event %s', (type) => {
  it('has every field, with its place on the chain', async () => {
    expect(await received(EVENTS[type])).toEqual(withAmounts(EVENTS[type]))
  })

  it('may come without log index, transaction and time', async () => {
    const { logIndex, transactionHash, blockTime, ...early } = EVENTS[type]
    const nothing = { logIndex: undefined, transactionHash: undefined, blockTime: undefined }
    expect(await received(early)).toEqual({ ...withAmounts(early), ...nothing })
  })

  it.each([
    ['chainId', '1'],
    ['orderId', '0x12'],
    ['blockNumber', -1],
    ['logIndex', '2'],
    ['logIndex', null],
    ['transactionHash', '0x12'],
    ['transactionHash', null],
    ['blockTime', '1800'],
    ['blockTime', 1.5],
    ['cursor', 5],
  ])('is not understood with the field %s of %j', async (field, value) => {
    const wrong = received({ ...EVENTS[type], [field]: value })
    await expect(wrong).rejects.toMatchObject({ reason: 'ANSWER_INVALID' })
  })
})

it('the event Settled may come without user and solver', async () => {
  const { user, solver, ...early } = EVENTS.Settled as Record<string, unknown>
  expect(await received(early)).toEqual({ ...early, user: undefined, solver: undefined })
})

it.each([
  ['Settled', 'user'],
  ['Settled', 'solver'],
  ['Deposited', 'solver'],
  ['Refunded', 'user'],
] as const)('the event %s is not understood when %s is not an address', async (type, field) => {
  const wrong = received({ ...EVENTS[type], [field]: '' })
  await expect(wrong).rejects.toMatchObject({ reason: 'ANSWER_INVALID' })
})
