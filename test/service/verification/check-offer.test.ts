import { beforeEach, expect, it } from 'vitest'
import { shared } from '../../support/shared.js'
import { marksOf, startVerifyingService } from './verifying-service.js'

const on = await shared(startVerifyingService())

beforeEach(() => on.reset())

const check = (body: object) => on.service.post(`/v1/${on.chain.chainId}/offers/check`, body)

/** The best offer of a new quote, as its caller sends it back. */
async function offer() {
  const { body } = await on.ask({ verify: 'off' })
  const { quote, solverSignature, orderId, expiresAt } = body
  return { sent: { quote, solverSignature }, orderId, expiresAt }
}

it('an offer of an answer is valid, with the times of the answer', async () => {
  const { sent, orderId, expiresAt } = await offer()
  const { status, body } = await check(sent)
  expect([status, body]).toEqual([
    200,
    {
      ...{ orderId, state: 'VALID', expiresAt },
      ...{ block: expect.any(Number), blockTime: expect.any(Number), serverTime: expect.any(Number) },
    },
  ])
  expect(expiresAt).toBe(sent.quote.depositDeadline * 1000)
})

it('another signature and a changed member are dead', async () => {
  const { sent } = await offer()
  const { body: forged } = await check({ ...sent, quote: { ...sent.quote, outputAmount: '3001' } })
  expect(forged).toMatchObject({ state: 'DEAD', code: 'SIGNATURE_INVALID' })
  const { body: elsewhere } = await check({ ...sent, quote: { ...sent.quote, outputChainId: 10 } })
  expect(elsewhere).toMatchObject({ state: 'DEAD', code: 'REFUSED', refusal: 'WrongOutputChain' })
})

it.each([
  [{}, ['quote', 'solverSignature']],
  [{ quote: 7 }, ['quote', 'solverSignature']],
  [
    { quote: { orderType: 2, nonce: '-1', depositDeadline: -1 }, solverSignature: '0x12' },
    [
      'quote.depositDeadline',
      'quote.solver',
      'quote.user',
      'quote.inputToken',
      'quote.inputAmount',
      'quote.outputToken',
      'quote.outputAmount',
      'quote.orderType',
      'quote.outputChainId',
      'quote.nonce',
      'solverSignature',
    ],
  ],
])('refuses %j, and names each field', async (body, fields) => {
  const answer = await check(body)
  expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_ARGUMENT'])
  expect(answer.body.details.map(({ field }: { field: string }) => field)).toEqual(fields)
})

it('equal checks within a second share one read of the contract', async () => {
  const { sent } = await offer()
  const pass = on.holdVerifications()
  const answers = Array.from({ length: 5 }, () => check(sent))
  await expect.poll(on.verifications).toBe(1)
  pass()
  expect((await Promise.all(answers)).map(({ body }) => body.state)).toEqual(Array(5).fill('VALID'))
  expect(on.verifications()).toBe(1)
})

it('64 checks that a node holds leave the best offers of other callers verified', async () => {
  const patient = await on.start({ QUOTE_TIMEOUT_MS: '60000', VERIFY_TIMEOUT_MS: '60000' })
  const { sent } = await offer()
  const pass = on.holdVerifications({ ofChecks: true })
  const answers: { body: { state: string; retryAfterMs?: number } }[] = []
  const all = Array.from({ length: 64 }, async (_, nonce) => {
    const body = { ...sent, quote: { ...sent.quote, nonce: `${nonce}` } }
    answers.push(await patient.post(`/v1/${on.chain.chainId}/offers/check`, body))
  })
  // The others have the part of the budget that checks may use.
  await expect.poll(() => answers.length).toBe(32)
  const { body } = await on.ask({ verify: 'best' }, patient)
  expect(marksOf(body)[0]).toEqual(['3000', true])
  for (const answer of answers) expect(answer.body).toMatchObject({ state: 'UNKNOWN', retryAfterMs: 1000 })
  pass()
  await Promise.all(all)
})
