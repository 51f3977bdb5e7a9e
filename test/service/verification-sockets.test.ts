import { setMaxListeners } from 'node:events'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { createDepositVerifier, type DepositVerifier } from '../../src/chain/deposit-verifier.js'
import { lowerCase } from '../../src/domain/hex.js'
import type { SignedQuote } from '../../src/domain/quote.js'
import type { DepositVerdict, UnknownReason } from '../../src/domain/verification.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { compileSource } from '../support/chain/deploy-source.js'
import { type Fixture, startSettlement, stranger, user } from '../support/chain/settlement.js'
import { offerOf } from '../support/chain/signed-offer.js'
import { type RpcProxy, startRpcProxy } from '../support/faults/rpc-proxy.js'
import { startSocketNode } from '../support/faults/socket-node.js'

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

let proxy: RpcProxy
let overSocket: DepositVerifier

beforeAll(async () => {
  chain = await startSettlement()
  rpcUrl = chain.client.transport.url ?? ''
  offer = offerOf(await chain.signedQuote())
  refusedOffer = offerOf(await chain.signedQuote({}, stranger))
})
afterAll(() => chain?.stop())
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  proxy = await startRpcProxy(rpcUrl)
  overSocket = openVerifier([proxy.wsUrl])
})
afterEach(() => {
  overSocket.close()
  proxy.close()
  vi.useRealTimers()
})

function openVerifier(rpcUrls: string[]) {
  const config = { chainId: chain.chainId, rpcUrls, settlement: lowerCase(chain.contracts.settlement) }
  const log = pino({ level: 'silent' })
  return createDepositVerifier(config, { verifyTimeoutMs: 300, metrics: createMetrics(), log })
}

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

it('a socket that the node has closed halfway is opened again', async () => {
  const node = await startSocketNode(rpcUrl)
  const verifier = openVerifier([node.url])
  expect(await verifier.verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
  node.closeHalf()
  await expect
    .poll(async () => {
      await verifier.verifyDeposit(offer, AbortSignal.timeout(200))
      return node.connections()
    })
    .toBe(2)
  expect(await verifier.verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
  verifier.close()
  node.close()
})

it.each([
  ['first', (id: number, rest: string) => `{"jsonrpc":"2.0","id":${id},${rest}}`],
  ['last', (id: number, rest: string) => `{"jsonrpc":"2.0",${rest},"id":${id}}`],
])('an answer that is too long ends its check at once when its id comes %s', async (_place, write) => {
  const node = await startSocketNode(rpcUrl)
  const verifier = openVerifier([node.url])
  expect(await verifier.verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
  const data = `0x${WORD.repeat(40_000)}`
  node.answerWith(({ id }) => write(id, `"error":{"code":3,"message":"execution reverted","data":"${data}"}`))
  expect(await verifier.verifyDeposit(offer, NEVER)).toEqual(unknown('answer_too_long'))
  node.answerWith(undefined)
  expect(await verifier.verifyDeposit(refusedOffer, NEVER)).toEqual(SIGNED_BY_ANOTHER)
  expect(node.connections()).toBe(1)
  verifier.close()
  node.close()
})

it('the bytes of a token cannot give a long answer the id of another check', async () => {
  const node = await startSocketNode(rpcUrl)
  const verifier = openVerifier([node.url])
  expect(await verifier.verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
  const ids: number[] = []
  node.answerWith(({ id }) => void ids.push(id))
  const honest = verifier.verifyDeposit(offer, NEVER)
  await expect.poll(() => ids.length).toBe(1)
  const ofToken = `${'x'.repeat(100_000)},"id":${ids[0]}}`
  const message = `${ofToken}{"jsonrpc":"2.0","id":${ids[0]},${ofToken}`
  node.answerWith(({ id }) => JSON.stringify({ error: { code: 3, message, data: '0x' }, jsonrpc: '2.0', id }))
  expect(await verifier.verifyDeposit(offer, NEVER)).toEqual(unknown('answer_too_long'))
  node.send(JSON.stringify({ jsonrpc: '2.0', id: ids[0], result: '0x' }))
  expect(await honest).toEqual(ACCEPTED)
  verifier.close()
  node.close()
})

it('the longest revert of a token does not close the socket', async () => {
  expect(await overSocket.verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
  const token = compileSource('HostileToken')
  const inputToken = await token.deploy({ rpcUrl, chainId: chain.chainId })
  await chain.transact(user, inputToken, token.abi, 'revertWithSize', [1_060_000])
  const hostile = offerOf(await chain.signedQuote({ inputToken }))
  expect(await overSocket.verifyDeposit(hostile, NEVER)).toEqual(unknown('answer_too_long'))
  expect(await overSocket.verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
  expect(proxy.socketCount()).toBe(1)
})

it('bytes that are no text do not close the socket', async () => {
  const node = await startSocketNode(rpcUrl)
  const verifier = openVerifier([node.url])
  expect(await verifier.verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
  node.answerWith(({ id }) => {
    const answer = `{"jsonrpc":"2.0","id":${id},"error":{"code":3,"message":"execution reverted: \xff","data":"0xff"}}`
    return Buffer.from(answer, 'latin1')
  })
  expect(await verifier.verifyDeposit(offer, NEVER)).toEqual(unknown('unlisted_revert'))
  expect(node.connections()).toBe(1)
  verifier.close()
  node.close()
})

it('a caller that leaves a socket which was idle does not end the checks of others', async () => {
  expect(await overSocket.verifyDeposit(offer, NEVER)).toEqual(ACCEPTED)
  vi.advanceTimersByTime(10_000)
  const { reached, release } = proxy.hold(({ method }) => method === 'eth_call')
  const checking = overSocket.verifyDeposit(offer, NEVER)
  await reached
  const caller = new AbortController()
  const leaving = overSocket.verifyDeposit(offer, caller.signal)
  caller.abort()
  expect(await leaving).toEqual(unknown('timeout'))
  release()
  expect(await checking).toEqual(ACCEPTED)
  expect(proxy.socketCount()).toBe(1)
})

it('a check ends at the end of its time while the socket cannot be opened', async () => {
  proxy.setHanging(true)
  const time = new AbortController()
  const checking = overSocket.verifyDeposit(offer, time.signal)
  time.abort()
  expect(await checking).toEqual(unknown('timeout'))
})
