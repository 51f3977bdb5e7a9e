import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { DepositVerifier } from '../../../src/chain/verification/deposit-verifier.js'
import { compileSource } from '../../support/chain/deploy-source.js'
import {
  ACCEPTED,
  NEVER,
  SIGNED_BY_ANOTHER,
  startVerifiedSettlement,
  unknownVerdict,
  type VerifiedSettlement,
} from '../../support/chain/deposit-verifier.js'
import { user } from '../../support/chain/settlement.js'
import { offerOf } from '../../support/chain/signed-offer.js'
import { deferred } from '../../support/deferred.js'
import { type RpcProxy, startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startSocketNode } from '../../support/faults/socket-node.js'

const WORD = '00'.repeat(32)

let settlement: VerifiedSettlement

let proxy: RpcProxy
let overSocket: DepositVerifier

beforeAll(async () => {
  settlement = await startVerifiedSettlement()
})
afterAll(() => settlement?.stop())
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  proxy = await startRpcProxy(settlement.rpcUrl)
  overSocket = settlement.openVerifier([proxy.wsUrl])
})
afterEach(() => {
  overSocket.close()
  proxy.close()
  vi.useRealTimers()
})

it('checks at the same time have sockets of their own, which later ones use again', async () => {
  const offers = Array.from({ length: 20 }, (_, index) =>
    index % 2 === 0 ? settlement.offer : settlement.refusedOffer,
  )
  const verdictsOf = () => Promise.all(offers.map((each) => overSocket.verifyDeposit(each, NEVER)))
  const expected = offers.map((each) => (each === settlement.offer ? ACCEPTED : SIGNED_BY_ANOTHER))
  expect(await verdictsOf()).toEqual(expected)
  expect(proxy.socketCount()).toBeLessThanOrEqual(offers.length)
  const { reached, release } = proxy.hold(({ method }) => method === 'eth_call')
  const held = overSocket.verifyDeposit(settlement.offer, NEVER)
  await reached
  proxy.intercept()
  expect(await verdictsOf()).toEqual(expected)
  release()
  expect(await held).toEqual(ACCEPTED)
  expect(proxy.socketCount()).toBeLessThanOrEqual(offers.length + 1)
})

it('an idle socket is closed after a time', async () => {
  vi.useRealTimers()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  expect(await overSocket.verifyDeposit(settlement.offer, NEVER)).toEqual(ACCEPTED)
  expect(proxy.socketCount()).toBeGreaterThan(0)
  vi.advanceTimersByTime(30_000)
  vi.useRealTimers()
  await expect.poll(proxy.socketCount).toBe(0)
  expect(await overSocket.verifyDeposit(settlement.offer, NEVER)).toEqual(ACCEPTED)
})

it('a lost socket is opened again', async () => {
  expect(await overSocket.verifyDeposit(settlement.offer, NEVER)).toEqual(ACCEPTED)
  proxy.hold(({ method }) => {
    if (method === 'eth_call') proxy.dropSockets()
    return false
  })
  expect(await overSocket.verifyDeposit(settlement.offer, NEVER)).toEqual(unknownVerdict('no_answer'))
  proxy.intercept()
  expect(await overSocket.verifyDeposit(settlement.offer, NEVER)).toEqual(ACCEPTED)
})

it('a socket that the node has closed halfway is not used again', async () => {
  const node = await startSocketNode(settlement.rpcUrl)
  const verifier = settlement.openVerifier([node.url])
  expect(await verifier.verifyDeposit(settlement.offer, NEVER)).toEqual(ACCEPTED)
  node.closeHalf()
  await expect
    .poll(() => verifier.verifyDeposit(settlement.offer, AbortSignal.timeout(200)))
    .toEqual(ACCEPTED)
  verifier.close()
  node.close()
})

it('an answer that is too long ends its check at once, and delays no other', async () => {
  const node = await startSocketNode(settlement.rpcUrl)
  const verifier = settlement.openVerifier([node.url])
  expect(await verifier.verifyDeposit(settlement.offer, NEVER)).toEqual(ACCEPTED)
  const data = `0x${WORD.repeat(40_000)}`
  const sent = deferred()
  node.answerWith(() => void sent.open())
  const honest = verifier.verifyDeposit(settlement.offer, NEVER)
  await sent.opened
  node.answerWith(({ id }) => JSON.stringify({ id, error: { code: 3, message: 'execution reverted', data } }))
  expect(await verifier.verifyDeposit(settlement.offer, NEVER)).toEqual(unknownVerdict('answer_too_long'))
  node.answerWith(undefined)
  expect(await verifier.verifyDeposit(settlement.refusedOffer, NEVER)).toEqual(SIGNED_BY_ANOTHER)
  node.answerHeld()
  expect(await honest).toEqual(ACCEPTED)
  verifier.close()
  node.close()
})

it('the longest revert of a token ends its check at once, and no other', async () => {
  const token = compileSource('HostileToken')
  const inputToken = await token.deploy({ rpcUrl: settlement.rpcUrl, chainId: settlement.chain.chainId })
  await settlement.chain.transact(user, inputToken, token.abi, 'revertWithSize', [1_060_000])
  const hostile = offerOf(await settlement.chain.signedQuote({ inputToken }))
  const offers = [hostile, settlement.offer, hostile, settlement.refusedOffer]
  expect(await Promise.all(offers.map((each) => overSocket.verifyDeposit(each, NEVER)))).toEqual([
    unknownVerdict('answer_too_long'),
    ACCEPTED,
    unknownVerdict('answer_too_long'),
    SIGNED_BY_ANOTHER,
  ])
})

it('an answer with another id, or to no call, is left out', async () => {
  const node = await startSocketNode(settlement.rpcUrl)
  const verifier = settlement.openVerifier([node.url])
  expect(await verifier.verifyDeposit(settlement.offer, NEVER)).toEqual(ACCEPTED)
  for (const text of ['{"result":"0x"}', 'null', '[]', '', `{"id":1,"result":"0x"}`]) node.send(text)
  node.answerWith(({ id }) => {
    node.send(JSON.stringify({ id: id - 1, result: '0x' }))
    node.send(JSON.stringify({ id: String(id), result: '0x' }))
    return JSON.stringify({ id, error: { code: 3, message: 'execution reverted', data: '0x01' } })
  })
  expect(await verifier.verifyDeposit(settlement.offer, NEVER)).toEqual(unknownVerdict('unlisted_revert'))
  verifier.close()
  node.close()
})

it('bytes that are no text are read like any others', async () => {
  const node = await startSocketNode(settlement.rpcUrl)
  const verifier = settlement.openVerifier([node.url])
  expect(await verifier.verifyDeposit(settlement.offer, NEVER)).toEqual(ACCEPTED)
  node.answerWith(({ id }) => {
    const answer = `{"jsonrpc":"2.0","id":${id},"error":{"code":3,"message":"execution reverted: \xff","data":"0xff"}}`
    return Buffer.from(answer, 'latin1')
  })
  expect(await verifier.verifyDeposit(settlement.offer, NEVER)).toEqual(unknownVerdict('unlisted_revert'))
  verifier.close()
  node.close()
})

it('a caller that leaves ends the check of no other one, and closes its own socket', async () => {
  expect(await overSocket.verifyDeposit(settlement.offer, NEVER)).toEqual(ACCEPTED)
  vi.advanceTimersByTime(10_000)
  const { reached, release } = proxy.hold(({ method }) => method === 'eth_call')
  const checking = overSocket.verifyDeposit(settlement.offer, NEVER)
  await reached
  const before = proxy.socketCount()
  const caller = new AbortController()
  const leaving = overSocket.verifyDeposit(settlement.offer, caller.signal)
  await expect.poll(() => proxy.count('eth_call')).toBeGreaterThan(3)
  caller.abort()
  expect(await leaving).toEqual(unknownVerdict('timeout'))
  await expect.poll(proxy.socketCount).toBeLessThanOrEqual(before)
  release()
  expect(await checking).toEqual(ACCEPTED)
})

it('no socket is open after the service has closed', async () => {
  expect(await overSocket.verifyDeposit(settlement.offer, NEVER)).toEqual(ACCEPTED)
  const { reached, release } = proxy.hold(({ method }) => method === 'eth_call')
  const checking = overSocket.verifyDeposit(settlement.offer, NEVER)
  await reached
  overSocket.close()
  expect(await checking).toEqual(unknownVerdict('no_answer'))
  await expect.poll(proxy.socketCount).toBe(0)
  expect(await overSocket.verifyDeposit(settlement.offer, NEVER)).toEqual(unknownVerdict('no_answer'))
  release()
})

it('a check ends at the end of its time while the socket cannot be opened', async () => {
  proxy.setHanging(true)
  const time = new AbortController()
  const checking = overSocket.verifyDeposit(settlement.offer, time.signal)
  time.abort()
  expect(await checking).toEqual(unknownVerdict('timeout'))
})
