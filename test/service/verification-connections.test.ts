import { setMaxListeners } from 'node:events'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createDepositVerifier, type DepositVerifier } from '../../src/chain/deposit-verifier.js'
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
const WORD = '00'.repeat(32)

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
  return createDepositVerifier(config, { metrics: createMetrics(), log: pino({ level: 'silent' }) })
}

describe('the second of two endpoints', () => {
  let node: RawNode
  let second: RpcProxy

  beforeEach(async () => {
    node = await startRawNode(rpcUrl)
    second = await startRpcProxy(rpcUrl)
  })
  afterEach(() => {
    node.close()
    second.close()
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

  it('is not asked after a revert', async () => {
    const both = openVerifier([node.url, second.url])
    expect(await both.verifyDeposit(refusedOffer, NEVER)).toEqual(SIGNED_BY_ANOTHER)
    expect(second.requests()).toEqual([])
    both.close()
  })
})

describe('over WebSocket', () => {
  let proxy: RpcProxy
  let overSocket: DepositVerifier

  beforeEach(async () => {
    proxy = await startRpcProxy(rpcUrl)
    overSocket = openVerifier([proxy.wsUrl])
  })
  afterEach(() => {
    overSocket.close()
    proxy.close()
  })

  it('all checks share one socket, and get their own verdicts', async () => {
    const offers = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? offer : refusedOffer))
    const verdicts = await Promise.all(offers.map((each) => overSocket.verifyDeposit(each, NEVER)))
    expect(verdicts).toEqual(offers.map((each) => (each === offer ? ACCEPTED : SIGNED_BY_ANOTHER)))
    expect(proxy.socketCount()).toBe(1)
  })

  it('a lost socket is opened again', async () => {
    expect(await overSocket.verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
    proxy.hold(({ method }) => {
      if (method === 'eth_call') proxy.dropSockets()
      return false
    })
    expect(await overSocket.verifyDeposit(offer, NEVER)).toEqual(unknown('no_answer'))
    proxy.intercept()
    expect(await overSocket.verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
  })

  it('an answer that is too long is dropped, and the socket stays', async () => {
    expect(await overSocket.verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
    const time = new AbortController()
    const sent = deferred()
    const data = `0x${WORD.repeat(40_000)}`
    proxy.intercept(async () => {
      sent.open()
      return { error: { code: 3, message: 'execution reverted', data } }
    })
    const checking = overSocket.verifyDeposit(offer, time.signal)
    await sent.opened
    proxy.intercept()
    expect(await overSocket.verifyDeposit(refusedOffer, NEVER)).toEqual(SIGNED_BY_ANOTHER)
    time.abort()
    expect(await checking).toEqual(unknown('timeout'))
    expect(proxy.socketCount()).toBe(1)
  })

  it('a check ends at the end of its time while the socket cannot be opened', async () => {
    proxy.setHanging(true)
    const time = new AbortController()
    const checking = overSocket.verifyDeposit(offer, time.signal)
    time.abort()
    expect(await checking).toEqual(unknown('timeout'))
  })
})
