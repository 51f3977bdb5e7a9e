import { encodeAbiParameters } from 'viem'
import { expect, test } from 'vitest'
import { RpcError } from '../../../packages/chain/src/json-rpc.js'
import { toPublicClient } from '../../../packages/chain/src/rpc-endpoint.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { ChainContext } from '../../../src/chain/context.js'
import { createBondTokenReader } from '../../../src/chain/tokens/bond-token.js'
import type { TokenReader, TokenReading } from '../../../src/chain/tokens/token-reader.js'
import { createLog } from '../../../src/telemetry/log.js'
import { createManualClock } from '../../support/manual-clock.js'
import { only } from '../../support/only.js'

const TOKEN: Address = `0x${'11'.repeat(20)}`
const FAILURE = new RpcError('refused', 'header not found')

/** A reader whose node and token a test plays. The first reads of each have these outcomes, and the later ones are right. */
function createFixture(addresses: readonly Error[], readings: readonly TokenReading[]) {
  const clock = createManualClock()
  const counts = { address: 0, token: 0 }
  const client = toPublicClient(async () => {
    const failure = addresses[counts.address++]
    if (failure !== undefined) throw failure
    return encodeAbiParameters([{ type: 'address' }], [TOKEN])
  })
  const config = { chainId: 1, settlement: `0x${'22'.repeat(20)}` }
  const tokens = only<TokenReader>({
    read: async () => readings[counts.token++] ?? { symbol: 'bUSD', decimals: 6 },
  })
  const context = only<ChainContext>({ config, clock, log: createLog('silent') })
  const reader = createBondTokenReader(context, (read) => read(client, 0), tokens)
  reader.start()
  return { clock, counts, reader }
}

test('a token that was read in part is complete a second later, and its address is not read again', async () => {
  const part = { symbol: undefined, decimals: 6, failure: FAILURE }
  const { clock, counts, reader } = createFixture([], [part, part])
  await clock.advance(0)
  expect(reader.bondToken()).toEqual({ address: TOKEN, symbol: undefined, decimals: 6 })
  await clock.advance(1_000)
  await clock.advance(1_999)
  expect(reader.bondToken()?.symbol).toBeUndefined()
  await clock.advance(1)
  expect(reader.bondToken()).toEqual({ address: TOKEN, symbol: 'bUSD', decimals: 6 })
  await clock.advance(3_600_000)
  expect(counts).toEqual({ address: 1, token: 3 })
})

test('an address that a node has not answered is read again', async () => {
  const { clock, counts, reader } = createFixture([FAILURE], [])
  await clock.advance(0)
  expect([reader.bondToken(), counts]).toEqual([undefined, { address: 1, token: 0 }])
  await clock.advance(1_000)
  expect([reader.bondToken()?.symbol, counts]).toEqual(['bUSD', { address: 2, token: 1 }])
})

test('nothing is read after it is closed', async () => {
  const { clock, counts, reader } = createFixture([FAILURE], [])
  await reader.close()
  await clock.advance(3_600_000)
  expect([counts, clock.waiting]).toEqual([{ address: 1, token: 0 }, 0])
})
