import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { lowerCase } from '../../../packages/protocol/src/values/hex.js'
import {
  createDepositVerifier,
  type DepositVerifier,
} from '../../../src/chain/verification/deposit-verifier.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { type Fixture, startSettlement } from '../../support/chain/settlement.js'
import { offerOf } from '../../support/chain/signed-offer.js'
import { eventually } from '../../support/eventually.js'
import { type RpcProxy, startRpcProxy } from '../../support/faults/rpc-proxy.js'

const TIME_MS = 100

let chain: Fixture
let proxy: RpcProxy
let verifier: DepositVerifier

beforeAll(async () => {
  chain = await startSettlement()
  proxy = await startRpcProxy(chain.client.transport.url ?? '')
  const settlement = lowerCase(chain.contracts.settlement)
  const config = { chainId: chain.chainId, rpcUrls: [proxy.wsUrl], settlement }
  verifier = createDepositVerifier(config, {
    verifyTimeoutMs: TIME_MS,
    metrics: createMetrics(),
    log: pino({ level: 'silent' }),
  })
})
afterAll(async () => {
  verifier?.close()
  proxy?.close()
  await chain?.stop()
})

it('a WebSocket whose node has gone silent is closed, and opened again', async () => {
  const offer = offerOf(await chain.signedQuote())
  const verify = () => verifier.verifyDeposit(offer, AbortSignal.timeout(TIME_MS))
  await eventually(verify, ({ kind }) => kind === 'accepted')
  proxy.setHanging(true)
  await eventually(
    async () => {
      expect(await verify()).toEqual({ kind: 'unknown', reason: 'timeout' })
      return proxy.socketCount()
    },
    (sockets) => sockets === 0,
  )
  proxy.setHanging(false)
  await eventually(verify, ({ kind }) => kind === 'accepted')
})
