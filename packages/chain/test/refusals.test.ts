import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../../test/support/manual-clock.js'
import { type HttpAnswer, raw, startEndpoint, withError } from './nodes.js'

describe('after a refusal for its limits', () => {
  const RATES: [string, HttpAnswer][] = [
    ['status 429', raw('', 429)],
    ['status 503', raw('', 503)],
    ['the code of Infura', withError({ code: -32005, message: 'limit exceeded' })],
    ['the code of Alchemy', withError({ code: 429, message: 'Monthly capacity limit exceeded' })],
    [
      'the words of Alchemy',
      withError({ code: -32000, message: 'exceeded its compute units per second capacity' }),
    ],
    [
      'words of a rate',
      withError({ code: -32603, message: 'daily request count exceeded, request rate limited' }),
    ],
  ]

  it.each(RATES)(
    'by %s, a node gets no call for a second, then for two, until it answers',
    async (_how, answer) => {
      const clock = createManualClock()
      const { node, endpoint, failure } = await startEndpoint(answer, { clock })
      for (const pauseMs of [1000, 2000, 4000]) {
        expect(await failure()).toMatchObject({ kind: 'refused', isRateLimit: true })
        await clock.advance(pauseMs - 1)
        node.takeSizes()
        expect(await failure()).toMatchObject({
          kind: 'refused',
          isRateLimit: true,
          message: expect.stringMatching(/refused calls \(.+\): none is sent for/),
        })
        expect(node.sizes()).toEqual([])
        await clock.advance(1)
      }
      node.answerWith(undefined)
      expect(await endpoint.request('eth_call')).toEqual(['eth_call'])
      node.answerWith(answer)
      expect(await failure()).toMatchObject({ kind: 'refused', isRateLimit: true })
      node.answerWith(undefined)
      await clock.advance(1000)
      expect(await endpoint.request('eth_call')).toEqual(['eth_call'])
    },
  )

  const NOW = Date.parse('Sun, 22 Nov 2026 08:00:00 GMT')
  it.each([
    ['seconds', 429, '7', 7000],
    ['seconds of a node that is busy', 503, '3', 3000],
    ['no time at all', 429, '0', 1000],
    ['a date', 503, 'Sun, 22 Nov 2026 08:00:09 GMT', 9000],
    ['a date that has passed', 503, 'Sun, 22 Nov 2026 07:00:00 GMT', 1000],
    ['many seconds, of which a minute counts', 429, '86400', 60_000],
    ['what cannot be read', 429, 'soon', 1000],
    ['seconds with another status', 500, '7', 0],
  ])('Retry-After with %s is the pause', async (_what, status, retryAfter, pauseMs) => {
    const clock = createManualClock(NOW)
    const { node, failure } = await startEndpoint(
      (response) => response.writeHead(status, { 'retry-after': retryAfter }).end(),
      { clock },
    )
    await failure()
    await clock.advance(Math.max(0, pauseMs - 1))
    node.takeSizes()
    await failure()
    expect(node.sizes()).toHaveLength(pauseMs === 0 ? 1 : 0)
    await clock.advance(1)
    node.takeSizes()
    await failure()
    expect(node.sizes()).toHaveLength(1)
  })

  it.each<[string, unknown]>([
    ['a revert whose words a caller has chosen', { code: 3, message: 'execution reverted: rate limit' }],
    ['a revert with data', { code: -32000, message: 'too many requests per second', data: '0x08c379a0' }],
    [
      'a revert of Nethermind',
      { code: -32015, message: 'VM execution error: capacity', data: 'Reverted 0x01' },
    ],
    ['too many logs', { code: -32005, message: 'query returned more than 10000 results' }],
    ['an unknown block', { code: -32000, message: 'header not found' }],
  ])('%s is none', async (_what, error) => {
    const { node, failure } = await startEndpoint(withError(error))
    for (let call = 0; call < 3; call++) expect(await failure()).toMatchObject({ kind: 'answered' })
    expect(node.sizes()).toEqual([1, 1, 1])
  })
})
