import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RpcProxy, startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { createManualClock, type ManualClock } from '../../support/manual-clock.js'
import { shared } from '../../support/shared.js'
import { type RawNode, startRawNode } from './raw-node.js'
import {
  ACCEPTED,
  NEVER,
  REFUSED,
  startVerifiedSettlement,
  unknownVerdict,
  VERIFY_TIMEOUT_MS,
} from './verified-settlement.js'

const settlement = await shared(startVerifiedSettlement())

describe('the second of two endpoints', () => {
  let node: RawNode
  let second: RpcProxy
  let clock: ManualClock

  beforeEach(async () => {
    clock = createManualClock()
    node = await startRawNode(settlement.rpcUrl)
    second = await startRpcProxy(settlement.rpcUrl)
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
    const both = settlement.openVerifier([node.url, second.url], { clock })
    expect(await both.verifyDeposit(settlement.offer, NEVER)).toEqual(ACCEPTED)
    const callsBefore = calls
    expect(await both.verifyDeposit(settlement.refusedOffer, NEVER)).toEqual(REFUSED)
    expect(calls).toBe(callsBefore)
    both.close()
  })

  it('is asked first after the first was silent for the time of a check', async () => {
    const both = settlement.openVerifier([node.url, second.url], { clock })
    expect(await both.verifyDeposit(settlement.offer, NEVER)).toEqual(ACCEPTED)
    const time = new AbortController()
    node.answerWith(() => {
      clock.standStill(VERIFY_TIMEOUT_MS)
      time.abort()
    })
    expect(await both.verifyDeposit(settlement.offer, time.signal)).toEqual(unknownVerdict('timeout'))
    expect(await both.verifyDeposit(settlement.refusedOffer, NEVER)).toEqual(REFUSED)
    both.close()
  })

  it('is not asked after a caller has left', async () => {
    const both = settlement.openVerifier([node.url, second.url], { clock })
    expect(await both.verifyDeposit(settlement.offer, NEVER)).toEqual(ACCEPTED)
    const caller = new AbortController()
    node.answerWith(() => caller.abort())
    expect(await both.verifyDeposit(settlement.offer, caller.signal)).toEqual(unknownVerdict('timeout'))
    node.answerWith(undefined)
    expect(await both.verifyDeposit(settlement.refusedOffer, NEVER)).toEqual(REFUSED)
    expect(second.requests()).toEqual([])
    both.close()
  })
})
