import { describe, expect, it } from 'vitest'
import { createAggregatorClient } from '../../src/index.js'
import { serve } from '../server.js'

const ADDRESS = `0x${'11'.repeat(20)}` as const
const orderIds = (count: number) =>
  Array.from({ length: count }, (_, index) => `0x${index.toString(16).padStart(64, '0')}`)

/** The error of a stream with a filter, and the requests that were sent for it. */
async function refusalOf(filter: unknown) {
  const { url, requests } = await serve((_request, response) => void response.writeHead(404).end())
  const events = createAggregatorClient({ baseUrl: url }).streamEvents(filter as object)
  const error = await events[Symbol.asyncIterator]()
    .next()
    .catch((thrown) => thrown)
  return { error, requests: requests() }
}

describe('a filter of events', () => {
  it.each([
    ['users', { users: [] }, 'must have a value; leave it out to let all pass'],
    ['chainIds', { chainIds: [] }, 'must have a value; leave it out to let all pass'],
    [
      'user',
      { user: [ADDRESS] },
      'is not a parameter: the parameters are after, chainIds, types, orderIds, users, solvers',
    ],
    ['toString', { toString: [ADDRESS] }, expect.stringMatching(/^is not a parameter/)],
    ['users', { users: ADDRESS }, 'must be a list'],
    ['users', { users: [ADDRESS, 'me'] }, 'must be a 20-byte address in hex with 0x'],
    ['solvers', { solvers: [undefined] }, 'must be a 20-byte address in hex with 0x'],
    ['orderIds', { orderIds: ['0x12'] }, 'must be 32 bytes in hex with 0x'],
    ['types', { types: ['deposited'] }, 'must be one of Deposited, Settled, Refunded, Reverted'],
    ['after', { after: null }, 'must be a text'],
    ['filter', null, 'must be an object, or be left out'],
    ['filter', { orderIds: orderIds(201) }, 'must have at most 200 values in all lists together'],
    [
      'filter',
      { orderIds: orderIds(199), users: [ADDRESS, ADDRESS] },
      'must have at most 200 values in all lists together',
    ],
  ])(
    'with bad %s is rejected with the field and without a request: case %$',
    async (field, filter, message) => {
      const { error, requests } = await refusalOf(filter)
      expect(error).toMatchObject({ name: 'AggregatorError', reason: 'INVALID_ARGUMENT' })
      expect(error.violations).toEqual([{ field, message }])
      expect(requests).toBe(0)
    },
  )

  it('sends every value of lists that are in order, and nothing of lists that are undefined', async () => {
    let query = ''
    const { url } = await serve((request, response) => {
      query = new URL(request.url ?? '', 'http://a').search
      response.writeHead(404).end()
    })
    const filter = {
      after: 'a.1',
      types: ['Settled', 'Reverted'],
      users: [ADDRESS],
      solvers: undefined,
    } as const
    const events = createAggregatorClient({ baseUrl: url }).streamEvents(filter)
    await expect(events[Symbol.asyncIterator]().next()).rejects.toMatchObject({ reason: 'ANSWER_INVALID' })
    expect(query).toBe(`?after=a.1&type=Settled&type=Reverted&user=${ADDRESS}`)
  })
})
