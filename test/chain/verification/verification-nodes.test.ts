import { encodeErrorResult } from 'viem'
import { beforeEach, describe, expect, it } from 'vitest'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import type { DepositVerdict } from '../../../packages/protocol/src/quotes/verification.js'
import type { DepositVerifier } from '../../../src/chain/verification/deposit-verifier.js'
import { user } from '../../support/chain/chain.js'
import { shared } from '../../support/shared.js'
import {
  ACCEPTED,
  answer,
  NEVER,
  REFUSED,
  startVerifiedSettlement,
  unknownVerdict,
} from './verified-settlement.js'

const NONCE_USED = encodeErrorResult({
  abi: settlementAbi,
  errorName: 'NonceAlreadyUsed',
  args: [user.address, 1n],
})
const WORD = '00'.repeat(32)

let node: Awaited<ReturnType<typeof settlement.openNode>>
let verifier: DepositVerifier

const settlement = await shared(startVerifiedSettlement())
beforeEach(async () => {
  node = await settlement.openNode()
  verifier = settlement.openVerifier([node.url])
})

const verify = (signal: AbortSignal = NEVER) => verifier.verifyDeposit(settlement.offer, signal)
/** The endpoint is checked before its first use. */
const pastTheCheck = async () => expect(await verify()).toEqual(ACCEPTED)

describe('an answer of the node is', () => {
  it.each<[string, object, DepositVerdict]>([
    ['a revert of geth', { error: { code: 3, message: 'execution reverted', data: NONCE_USED } }, REFUSED],
    [
      'a revert without data',
      { error: { code: -32000, message: 'execution reverted' } },
      unknownVerdict('empty_revert'),
    ],
    ['a revert as a result', { result: NONCE_USED }, unknownVerdict('node_error')],
    [
      'an unknown block',
      { error: { code: -32000, message: 'header not found' } },
      unknownVerdict('node_error'),
    ],
    ['no result', {}, unknownVerdict('no_answer')],
    ['a result of another type', { result: { accepted: true } }, unknownVerdict('node_error')],
    ['a result that is not hex', { result: 'accepted' }, unknownVerdict('node_error')],
    ['an empty result', { result: '0x' }, ACCEPTED],
    ['a word', { result: `0x${WORD}` }, ACCEPTED],
    ['half a word', { result: '0x0000' }, unknownVerdict('node_error')],
    [
      'too long',
      { error: { code: 3, message: 'execution reverted', data: `0x${WORD.repeat(2000)}` } },
      unknownVerdict('answer_too_long'),
    ],
  ])('%s', async (_what, body, verdict) => {
    await pastTheCheck()
    node.answerWith((response) => answer(response, body))
    expect(await verify()).toEqual(verdict)
  })

  it('a revert with the status of an error', async () => {
    await pastTheCheck()
    node.answerWith((response) =>
      answer(response, { error: { code: 3, message: '', data: NONCE_USED } }, 500),
    )
    expect(await verify()).toEqual(REFUSED)
  })
})

it('a node that limits rates, or whose answer cannot be read, gives no answer', async () => {
  await pastTheCheck()
  node.answerWith((response) => answer(response, { error: { code: -32005, message: 'limit exceeded' } }))
  expect(await verify()).toEqual(unknownVerdict('no_answer'))
  node.answerWith((response) => response.end('{"result":"0x'))
  expect(await verify()).toEqual(unknownVerdict('no_answer'))
})

describe('a check ends', () => {
  it('at the end of its time while the node is silent', async () => {
    await pastTheCheck()
    const time = new AbortController()
    node.answerWith(() => time.abort())
    expect(await verify(time.signal)).toEqual(unknownVerdict('timeout'))
  })

  it('without a call when its time is over', async () => {
    expect(await verify(AbortSignal.abort())).toEqual(unknownVerdict('timeout'))
    expect(node.calls()).toBe(0)
  })
})
