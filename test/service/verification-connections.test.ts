import { setMaxListeners } from 'node:events'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createDepositVerifier } from '../../src/chain/deposit-verifier.js'
import { lowerCase } from '../../src/domain/hex.js'
import type { SignedQuote } from '../../src/domain/quote.js'
import type { DepositVerdict, UnknownReason } from '../../src/domain/verification.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { type Fixture, startSettlement, stranger } from '../support/chain/settlement.js'
import { offerOf } from '../support/chain/signed-offer.js'
import { deferred } from '../support/deferred.js'
import { type RawNode, startRawNode } from '../support/faults/raw-node.js'
import { type RpcProxy, startRpcProxy } from '../support/faults/rpc-proxy.js'

const ACCEPTED: DepositVerdict = { kind: 'accepted' }
const SIGNED_BY_ANOTHER: DepositVerdict = { kind: 'rejected', error: 'SignerNotSolver' }
const unknown = (reason: UnknownReason): DepositVerdict => ({ kind: 'unknown', reason })
const NEVER = new AbortController().signal
setMaxListeners(0, NEVER)
const VERIFY_TIMEOUT_MS = 300

let chain: Fixture
let rpcUrl: string
let offer: SignedQuote
let refusedOffer: SignedQuote

beforeAll(async () => {
  chain = await startSettlement()
  rpcUrl = chain.client.transport.url ?? ''
  offer = offerOf(await chain.signedQuote())
  refusedOffer = offerOf(await chain.signedQuote({}, stranger))
})
afterAll(() => chain?.stop())

function openVerifier(rpcUrls: string[]) {
  const config = { chainId: chain.chainId, rpcUrls, settlement: lowerCase(chain.contracts.settlement) }
  const log = pino({ level: 'silent' })
  return createDepositVerifier(config, { verifyTimeoutMs: VERIFY_TIMEOUT_MS, metrics: createMetrics(), log })
}

describe('the second of two endpoints', () => {
  let node: RawNode
  let second: RpcProxy

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    node = await startRawNode(rpcUrl)
    second = await startRpcProxy(rpcUrl)
  })
  afterEach(() => {
    node.close()
    second.close()
    vi.useRealTimers()
  })

  it('answers while the first is away, and is asked first for some time', async () => {
    let calls = 0
    node.answerWith((response) => {
      calls++
      response.destroy()
    })
    const both = openVerifier([node.url, second.url])
    expect(await both.verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
    const callsBefore = calls
    expect(await both.verifyDeposit(refusedOffer, NEVER)).toEqual(SIGNED_BY_ANOTHER)
    expect(calls).toBe(callsBefore)
    both.close()
  })

  it('is asked first after the first was silent for the time of a check', async () => {
    const both = openVerifier([node.url, second.url])
    expect(await both.verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
    const time = new AbortController()
    node.answerWith(() => {
      vi.advanceTimersByTime(VERIFY_TIMEOUT_MS)
      time.abort()
    })
    expect(await both.verifyDeposit(offer, time.signal)).toEqual(unknown('timeout'))
    expect(await both.verifyDeposit(refusedOffer, NEVER)).toEqual(SIGNED_BY_ANOTHER)
    both.close()
  })

  it('is not asked after a caller has left', async () => {
    const both = openVerifier([node.url, second.url])
    expect(await both.verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
    const caller = new AbortController()
    node.answerWith(() => caller.abort())
    expect(await both.verifyDeposit(offer, caller.signal)).toEqual(unknown('timeout'))
    node.answerWith(undefined)
    expect(await both.verifyDeposit(refusedOffer, NEVER)).toEqual(SIGNED_BY_ANOTHER)
    expect(second.requests()).toEqual([])
    both.close()
  })

  it('is not asked after a slow call, when the first has answered others meanwhile', async () => {
    const both = openVerifier([node.url, second.url])
    expect(await both.verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
    const time = new AbortController()
    const sent = deferred()
    node.answerWith(sent.open)
    const slow = both.verifyDeposit(offer, time.signal)
    await sent.opened
    node.answerWith(undefined)
    vi.advanceTimersByTime(VERIFY_TIMEOUT_MS)
    expect(await both.verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
    time.abort()
    expect(await slow).toEqual(unknown('timeout'))
    expect(await both.verifyDeposit(refusedOffer, NEVER)).toEqual(SIGNED_BY_ANOTHER)
    expect(second.requests()).toEqual([])
    both.close()
  })

  it('is not asked after a revert', async () => {
    const both = openVerifier([node.url, second.url])
    expect(await both.verifyDeposit(refusedOffer, NEVER)).toEqual(SIGNED_BY_ANOTHER)
    expect(second.requests()).toEqual([])
    both.close()
  })
})
