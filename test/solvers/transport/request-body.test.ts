import { expect, test } from 'vitest'
import type { QuoteRequest } from '../../../packages/protocol/src/quotes/quote.js'
import { toRequestBody } from '../../../packages/protocol/src/signing/quote-request.js'
import { askedSession, NO_ENDPOINT } from '../../../packages/protocol/src/solvers/solver.js'
import { exactInput } from '../../support/solvers/sample-quotes.js'
import { solver } from '../sample-solver.js'

const textOf = (request: QuoteRequest) => JSON.stringify(toRequestBody(request))

const NO_URL = { id: 'a', replicaId: 'b' }
const REMOTE = { ...NO_URL, replicaUrl: 'http://127.0.0.1:1' }
const CUT_OFF = { ...REMOTE, isCutOff: true } as const

test.each([
  ['with an endpoint at its endpoint', {}, undefined],
  ['with a session on its session', { endpointUrl: NO_ENDPOINT, session: { id: 'a' } }, 'a'],
  ['with both on its session', { session: { id: 'a' } }, 'a'],
  ['with a session at another replica there', { remoteSession: REMOTE }, 'a'],
  ['with one at a replica without a URL at its endpoint', { remoteSession: NO_URL }, undefined],
  ['with one at a replica that does not answer at its endpoint', { remoteSession: CUT_OFF }, undefined],
])('a solver %s is asked', (_which, changes, session) => {
  expect(askedSession(solver(1, changes))?.id).toBe(session)
})

test('the request has exactly the wire format of deployed solvers, and one field more where an offer may be earlier', () => {
  const { minDepositDeadline, ...wholeWindow } = exactInput
  const request = {
    ...wholeWindow,
    inputToken: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
    outputToken: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
    user: '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed',
  } as const
  expect(textOf(request)).toBe(
    '{"inputToken":"0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",' +
      '"outputToken":"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",' +
      '"orderType":"EXACT_INPUT",' +
      '"amount":"1000",' +
      '"userAddress":"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",' +
      '"chainId":1,' +
      '"destinationChainId":8453,' +
      '"depositMode":"CONTRACT",' +
      '"depositDeadline":1800000300,' +
      '"fillDeadline":1800000420}',
  )
  expect(textOf({ ...request, minDepositDeadline })).toBe(
    `${textOf(request).slice(0, -1)},"minDepositDeadline":1800000060}`,
  )
})

test('the request names the other order type and the other deposit mode', () => {
  const body = toRequestBody({ ...exactInput, orderType: 'EXACT_OUTPUT', depositMode: 'ADDRESS' })
  expect(body).toMatchObject({ orderType: 'EXACT_OUTPUT', depositMode: 'ADDRESS' })
})

test('the request has an amount of 2^256-1 as a decimal string', () => {
  const amount = 2n ** 256n - 1n
  expect(toRequestBody({ ...exactInput, amount })).toMatchObject({ amount: amount.toString() })
})
