import { zeroAddress } from 'viem'
import { beforeEach, describe, expect, it } from 'vitest'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import { createManualClock, type ManualClock } from '../../support/manual-clock.js'
import { shared } from '../../support/shared.js'
import {
  ACCEPTED,
  answer,
  NEVER,
  REFUSED,
  startVerifiedSettlement,
  unknownVerdict,
  VERIFY_TIMEOUT_MS,
} from './verified-settlement.js'

const NO_ANSWER = unknownVerdict('no_answer')
const REFUSES_NOTHING = 'it does not report that an empty quote is refused'
/** A check of an endpoint holds for this time. The next one begins after half of it, if there are calls. */
const CHECK_HOLDS_MS = 120_000

const settlement = await shared(startVerifiedSettlement())
const { offer, refusedOffer } = settlement

let node: Awaited<ReturnType<typeof settlement.openNode>>
let clock: ManualClock
/** The warnings of the verifiers of a test. */
let logged: { chainId: number; url: number; reason: string }[]
const onWarning = (line: string) => void logged.push(JSON.parse(line))

beforeEach(async () => {
  clock = createManualClock()
  logged = []
  node = await settlement.openNode()
})

describe('an offer is never accepted from a node', () => {
  it.each<[string, { chainId?: number; settlement?: `0x${string}` }, string]>([
    ['of another chain', { chainId: 1 }, 'it serves another chain'],
    ['that does not have the contract', { settlement: `0x${'ab'.repeat(20)}` }, REFUSES_NOTHING],
  ])('%s, which is logged once', async (_what, changes, reason) => {
    const verifier = settlement.openVerifier([node.url], { ...changes, onWarning })
    for (const _ of [1, 2]) expect(await verifier.verifyDeposit(offer, NEVER)).toEqual(NO_ANSWER)
    expect(logged).toMatchObject([{ chainId: changes.chainId ?? settlement.chain.chainId, url: 1, reason }])
  })

  it.each(['since its last check', 'while it gave no answer'])(
    'that has lost the contract %s',
    async (when) => {
      const { verifyDeposit } = settlement.openVerifier([node.url], { clock, onWarning })
      expect(await verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
      if (when === 'since its last check') await clock.advance(CHECK_HOLDS_MS)
      else {
        node.answerWith((response) => response.destroy())
        expect(await verifyDeposit(offer, NEVER)).toEqual(NO_ANSWER)
      }
      // As one that is not synchronised yet.
      node.answerWith((response, body, pass) =>
        body.includes('"eth_call"') ? answer(response, { result: '0x' }) : pass(),
      )
      expect(await verifyDeposit(refusedOffer, NEVER)).toEqual(NO_ANSWER)
      expect(logged).toMatchObject([{ reason: REFUSES_NOTHING }])
    },
  )

  it('that has lost it during a minute of calls, none of which waits for the next check', async () => {
    const { verifyDeposit } = settlement.openVerifier([node.url], { clock })
    expect(await verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
    await clock.advance(CHECK_HOLDS_MS / 2)
    const [reached, released] = [deferred(), deferred()]
    node.answerWith(async (response, body, pass) => {
      if (!body.includes(`"from":"${zeroAddress}"`)) return pass()
      reached.open()
      await released.opened
      return answer(response, { result: '0x' })
    })
    expect(await verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
    await reached.opened
    expect(await verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
    released.open()
    await eventually(
      () => verifyDeposit(offer, NEVER),
      (verdict) => verdict.kind === 'unknown',
    )
    expect(await verifyDeposit(offer, NEVER)).toEqual(NO_ANSWER)
  })
})

describe('the second of two endpoints', () => {
  /** A verifier whose first endpoint is `node`. */
  async function openBoth() {
    const second = await settlement.openNode()
    const { verifyDeposit } = settlement.openVerifier([node.url, second.url], { clock })
    return { verifyDeposit, second }
  }

  it('answers while the first is away, and is asked first for some time', async () => {
    const { verifyDeposit } = await openBoth()
    node.answerWith((response) => response.destroy())
    expect(await verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
    const before = node.calls()
    expect(await verifyDeposit(refusedOffer, NEVER)).toEqual(REFUSED)
    expect(node.calls()).toBe(before)
  })

  it('is asked first after the first was silent for the time of a check', async () => {
    const { verifyDeposit } = await openBoth()
    expect(await verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
    const time = new AbortController()
    node.answerWith(() => {
      clock.standStill(VERIFY_TIMEOUT_MS)
      time.abort()
    })
    expect(await verifyDeposit(offer, time.signal)).toEqual(unknownVerdict('timeout'))
    expect(await verifyDeposit(refusedOffer, NEVER)).toEqual(REFUSED)
  })

  it('is not asked after a caller has left', async () => {
    const { verifyDeposit, second } = await openBoth()
    expect(await verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
    const caller = new AbortController()
    node.answerWith(() => caller.abort())
    expect(await verifyDeposit(offer, caller.signal)).toEqual(unknownVerdict('timeout'))
    node.answerWith((_response, _body, pass) => pass())
    expect(await verifyDeposit(refusedOffer, NEVER)).toEqual(REFUSED)
    expect(second.calls()).toBe(0)
  })
})
