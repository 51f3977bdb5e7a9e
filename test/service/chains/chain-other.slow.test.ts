import { isDeepStrictEqual } from 'node:util'
import { createTestClient, http } from 'viem'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type Anvil, startAnvil } from '../../../packages/cli/src/devnet/anvil.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { eventually } from '../../support/eventually.js'
import type { RpcReply } from '../../support/faults/chain-view.js'
import type { Interceptor, RpcProxy } from '../../support/faults/rpc-proxy.js'
import { useWatchedChain } from '../../support/faults/watched-chain.js'
import { expectedMessages, standing } from '../../support/streams/event-messages.js'
import { watchEvents } from '../../support/streams/watch-events.js'

const on = useWatchedChain({ seed: 62 })
const OTHER_CHAIN_ID = 99
/** More than the blocks of the service's own chain, so that its head is a new one. */
const OTHER_BLOCKS = 150
/** After so many blocks more, events of before are final. */
const FINAL_BLOCKS = 200

let other: Anvil

const miner = (url: string) => createTestClient({ mode: 'anvil', transport: http(url) })

beforeAll(async () => {
  other = await startAnvil({ chainId: OTHER_CHAIN_ID })
  await miner(other.url).mine({ blocks: OTHER_BLOCKS })
})
afterAll(() => other?.stop())

/** Answers with the other chain's blocks. */
const answerWithOther: Interceptor = async ({ method, params = [] }) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(other.url, { method: 'POST', headers, body })
  return (await answer.json()) as RpcReply
}

const events = () => on.events.events()
const health = async () => (await on.chainHealth()).status

/** Whether a method was called since the calls were forgotten. */
function hasCalled(rpc: RpcProxy, method: string): boolean {
  return rpc.requests().some((calls) => calls.some((call) => call.method === method))
}

it('a node that answers for another chain for a while removes no event, and is reported', async () => {
  await on.start()
  await on.traffic.run({ events: 12, blocks: 6 })
  await on.untilRead()
  on.rpc.intercept(answerWithOther)
  await eventually(health, (status) => status === 'down')
  const { chainId } = on.chain
  expect(on.lines).toContainEqual(
    expect.objectContaining({
      msg: 'the chain is not what the configuration says',
      reason: `RPC_URL_${chainId} answers for chain ${OTHER_CHAIN_ID}, and not for ${chainId}`,
    }),
  )
  on.rpc.forgetCalls()
  await eventually(
    async () => hasCalled(on.rpc, 'eth_chainId'),
    (asked) => asked,
  )
  // Nothing is read from it before it is the right chain again.
  expect(hasCalled(on.rpc, 'eth_getBlockByNumber')).toBe(false)

  on.rpc.intercept()
  await on.traffic.run({ events: 6, blocks: 3 })
  await on.untilRead()
  await on.events.untilCount(18)
  expect(events()).toHaveLength(18)
  expect(standing(events())).toEqual(await expectedMessages(on.chain, on.from))
  await eventually(health, (status) => status === 'ok')
})

it('a node that gave the blocks of another chain as those of its own has all events read again', async () => {
  const kept = { DB_PATH: temporaryFile(), MAX_REORG_DEPTH: '4' }
  await on.start(kept)
  await on.traffic.run({ events: 12, blocks: 6 })
  await on.untilRead()
  on.rpc.intercept((call, pass, ask) =>
    call.method === 'eth_chainId' ? pass() : answerWithOther(call, pass, ask),
  )
  await eventually(on.eventBlock, (block) => block === OTHER_BLOCKS)
  expect(standing(events())).toEqual([])
  const cursor = `?after=${on.events.cursor().split('.')[0]}.0`
  on.events.close()
  await on.service.close()

  on.rpc.intercept()
  await miner(on.chain.devnet.rpcUrl).mine({ blocks: FINAL_BLOCKS })
  await on.start(kept)
  await on.untilRead()
  const whole = await watchEvents(on.service, cursor)
  onTestFinished(() => whole.close())
  const expected = await expectedMessages(on.chain, on.from)
  await eventually(
    async () => standing(whole.events()),
    (found) => isDeepStrictEqual(found, expected),
  )
})
