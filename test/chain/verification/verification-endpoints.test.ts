import type { ServerResponse } from 'node:http'
import { zeroAddress } from 'viem'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DepositVerifier } from '../../../src/chain/verification/deposit-verifier.js'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import { startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { createManualClock, type ManualClock } from '../../support/manual-clock.js'
import { shared } from '../../support/shared.js'
import { type RawNode, startRawNode } from './raw-node.js'
import { NEVER, startVerifiedSettlement, unknownVerdict } from './verified-settlement.js'

const NO_ANSWER = unknownVerdict('no_answer')
/** A check of an endpoint holds for this time. The next one begins after half of it, if there are calls. */
const CHECK_HOLDS_MS = 120_000

let node: RawNode
let verifier: DepositVerifier
let clock: ManualClock
/** The warnings of the verifiers of a test. */
let logged: { chainId: number; url: number; reason: string }[]
const onWarning = (line: string) => void logged.push(JSON.parse(line))

const settlement = await shared(startVerifiedSettlement())
beforeEach(async () => {
  clock = createManualClock()
  logged = []
  node = await startRawNode(settlement.rpcUrl)
  verifier = settlement.openVerifier([node.url], { clock, onWarning })
})
afterEach(() => {
  verifier.close()
  node.close()
})

const verify = () => verifier.verifyDeposit(settlement.offer, NEVER)
const pastTheCheck = async () => expect(await verify()).toEqual({ kind: 'accepted' })

const answer = (response: ServerResponse, body: object) =>
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }))

describe('an offer is never accepted from a node', () => {
  it.each<[string, { chainId?: number; settlement?: `0x${string}` }, string]>([
    ['of another chain', { chainId: 1 }, 'it serves another chain'],
    [
      'that does not have the contract',
      { settlement: `0x${'ab'.repeat(20)}` },
      'it does not report that an empty quote is refused',
    ],
  ])('%s, which is logged once', async (_what, changes, reason) => {
    const other = settlement.openVerifier([node.url], { ...changes, onWarning })
    for (const _ of [1, 2]) expect(await other.verifyDeposit(settlement.offer, NEVER)).toEqual(NO_ANSWER)
    expect(logged).toMatchObject([{ chainId: changes.chainId ?? settlement.chain.chainId, url: 1, reason }])
    other.close()
  })

  it('that returns reverts as empty results', async () => {
    const proxy = await startRpcProxy(settlement.rpcUrl)
    proxy.intercept(async ({ method }, pass) => (method === 'eth_call' ? { result: '0x' } : pass()))
    const other = settlement.openVerifier([proxy.url])
    expect(await other.verifyDeposit(settlement.refusedOffer, NEVER)).toEqual(NO_ANSWER)
    other.close()
    proxy.close()
  })
})

describe('a node that has lost the contract accepts no offer', () => {
  /** Answers like a node that is not synchronised yet: no contract runs. */
  const loseContract = () =>
    node.answerWith((response, body, pass) =>
      body.includes('"eth_call"') ? answer(response, { result: '0x' }) : pass(),
    )

  it('after a time without calls', async () => {
    await pastTheCheck()
    loseContract()
    await clock.advance(CHECK_HOLDS_MS)
    expect(await verify()).toEqual(NO_ANSWER)
    expect(logged).toMatchObject([{ reason: 'it does not report that an empty quote is refused' }])
  })

  it('after a minute of calls, none of which waits for the next check', async () => {
    await pastTheCheck()
    await clock.advance(CHECK_HOLDS_MS / 2)
    const [reached, released] = [deferred(), deferred()]
    node.answerWith(async (response, body, pass) => {
      if (!body.includes(`"from":"${zeroAddress}"`)) return pass()
      reached.open()
      await released.opened
      return answer(response, { result: '0x' })
    })
    await pastTheCheck()
    await reached.opened
    await pastTheCheck()
    released.open()
    await eventually(verify, (verdict) => verdict.kind === 'unknown')
    expect(await verify()).toEqual(NO_ANSWER)
  })
})
