import { describe, expect, it, vi } from 'vitest'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import type { RpcCaller, RpcReply } from '../../support/faults/chain-view.js'
import type { Interceptor } from '../../support/faults/rpc-proxy.js'
import { useWatchedChain } from '../../support/faults/watched-chain.js'
import { expectedMessages, standing } from '../../support/streams/event-messages.js'
import { watchEvents } from '../../support/streams/watch-events.js'

const on = useWatchedChain({ seed: 61 })

/** A block of a fork that is on no chain. Its parent is the block before it in a list, or a real block. */
interface ForkBlock {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
}

const reorganisations = () => on.service.metric('aggregator_reorganisations_total', {})

let serial = 0
/** A hash that no block has. */
const madeUpHash = () => `0x${(++serial).toString(16).padStart(64, 'f')}`

/** Blocks of a fork, one number after another, the lowest first. */
function fork(from: number, to: number, parentHash = madeUpHash()): ForkBlock[] {
  const blocks: ForkBlock[] = []
  for (let number = from; number <= to; number++) {
    blocks.push({ number, hash: madeUpHash(), parentHash: blocks.at(-1)?.hash ?? parentHash })
  }
  return blocks
}

/**
 * Answers with the fork's blocks by their hashes, and once with its head. Other answers are those of the
 * chain.
 */
function answerOnceWith(blocks: readonly ForkBlock[]) {
  const answered = deferred()
  let isSubscribed = false
  const asRpc = async (ask: RpcCaller, block: ForkBlock | undefined): Promise<RpcReply> => {
    const { result } = await ask('eth_getBlockByNumber', ['latest', false])
    const real = result as Record<string, unknown>
    return { result: block && { ...real, ...block, number: `0x${block.number.toString(16)}` } }
  }
  const intercept: Interceptor = async ({ method, params = [] }, pass, ask) => {
    if (method === 'eth_getBlockByNumber' && params[0] === 'latest' && !isSubscribed) {
      isSubscribed = true
      answered.open()
      return asRpc(ask, blocks.at(-1))
    }
    if (method === 'eth_getBlockByHash') {
      const block = blocks.find(({ hash }) => hash === params[0])
      if (block !== undefined) return asRpc(ask, block)
    }
    if (method === 'eth_getLogs') {
      const { blockHash } = params[0] as { blockHash?: string }
      if (blocks.some(({ hash }) => hash === blockHash)) return { result: [] }
    }
    return pass()
  }
  on.rpc.intercept(intercept)
  return answered.opened
}

describe('a head of another fork', () => {
  it.each([
    { fork: 'that branches below the first block read', mined: 1, from: 1, to: 1, isOnKnown: false },
    { fork: 'of several blocks, which branches there', mined: 4, from: 1, to: 5, isOnKnown: false },
    { fork: 'that branches at a known block', mined: 4, from: 4, to: 5, isOnKnown: true },
  ])('$fork removes no event, and reading goes on', async ({ mined, from, to, isOnKnown }) => {
    const root = await on.traffic.head()
    await on.start()
    const heads = [root]
    for (let block = 0; block < mined; block++) {
      await on.traffic.run({ events: 3, blocks: 1 })
      heads.push(await on.traffic.head())
    }
    await on.untilRead()
    const parentHash = isOnKnown ? heads[from - 1]?.hash : undefined
    await answerOnceWith(fork(root.number + from, root.number + to, parentHash))
    await on.traffic.run({ events: 6, blocks: 3 })
    await on.untilRead()
    await on.events.untilCount(3 * mined + 6)
    expect(standing(on.events.events())).toEqual(await expectedMessages(on.chain, root.number + 1))
    expect(on.events.events()).toHaveLength(3 * mined + 6)
    expect(await reorganisations()).toBe(0)
    expect(on.lines.filter(({ level }) => level >= 50)).toEqual([])
    expect((await on.chainHealth()).status).toBe('ok')
  })

  it('whose parent is always returned as another block is requested once a poll', async () => {
    await on.start()
    await on.traffic.run({ events: 2, blocks: 2 })
    await on.untilRead()
    const { number } = await on.traffic.head()
    const [wrong] = fork(number, number)
    let asked = 0
    on.rpc.intercept(async ({ method, params = [] }, pass, ask) => {
      const isWrongHead = method === 'eth_getBlockByNumber' && params[0] === 'latest'
      if (method === 'eth_getBlockByHash') asked++
      if (!isWrongHead && method !== 'eth_getBlockByHash') return pass()
      const { result } = await ask('eth_getBlockByNumber', ['latest', false])
      return { result: { ...(result as object), hash: wrong?.hash, parentHash: madeUpHash() } }
    })
    const polls = () => on.rpc.requests().filter((calls) => JSON.stringify(calls).includes('"latest"')).length
    on.rpc.forgetCalls()
    await eventually(
      async () => polls(),
      (count) => count >= 4,
    )
    expect(asked).toBeLessThanOrEqual(polls())
    on.rpc.intercept()
    await on.traffic.run({ events: 2, blocks: 1 })
    await on.events.untilCount(4)
    expect(on.events.events()).toHaveLength(4)
  })
})

describe('a reorganisation while ranges are read', () => {
  const DEPTH = 4

  it('is noticed at the next range, and its events are removed', async () => {
    const { number: root } = await on.traffic.head()
    await on.traffic.run({ events: 60, blocks: 50 })
    const [reached, released] = [deferred(), deferred()]
    const begun = new Set<string>()
    on.rpc.intercept(async ({ method, params = [] }, pass) => {
      const { fromBlock, toBlock } = (params[0] ?? {}) as { fromBlock?: string; toBlock?: string }
      // The ends of a range are single blocks, which are read again.
      if (method !== 'eth_getLogs' || fromBlock === undefined || fromBlock === toBlock) return pass()
      if (Number(toBlock) - Number(fromBlock) > 8)
        return { error: { code: -32005, message: 'query returned too many results' } }
      if (begun.add(fromBlock).size === 4) {
        reached.open()
        await released.opened
      }
      return pass()
    })
    await on.start({ MAX_REORG_DEPTH: String(DEPTH), [`START_BLOCK_${on.chain.chainId}`]: String(root + 1) })
    await reached.opened
    await on.traffic.reorganiseAtRandom({ depth: 40, events: 30, longerBy: 2 })
    released.open()
    await on.untilRead()
    const whole = await watchEvents(on.service, `?after=${on.events.cursor().split('.')[0]}.0`)
    const expected = await expectedMessages(on.chain, root + 1)
    await eventually(
      async () => standing(whole.events()).length,
      (count) => count >= expected.length,
    )
    expect(standing(whole.events())).toEqual(expected)
    expect(whole.events().filter(({ type }) => type === 'Reverted')).not.toEqual([])
    whole.close()
    expect(on.lines.filter(({ msg }) => msg.includes('deeper than'))).toHaveLength(1)
  })
})

describe('a chain that no longer has any block that the service knows', () => {
  const DEPTH = 3

  async function restart(kept: Record<string, string>): Promise<void> {
    on.events?.close()
    await on.service?.close()
    await on.start(kept)
  }

  async function expectChainsEvents(): Promise<void> {
    const expected = await expectedMessages(on.chain, on.from)
    const whole = await watchEvents(on.service, `?after=${on.events.cursor().split('.')[0]}.0`)
    await vi.waitFor(() => expect(standing(whole.events())).toEqual(expected), { timeout: 20_000 })
    whole.close()
  }

  it('has its old events removed after a restart', async () => {
    const kept = { DB_PATH: temporaryFile(), MAX_REORG_DEPTH: String(DEPTH) }
    await on.start(kept)
    await on.traffic.run({ events: 6, blocks: 4 })
    await on.traffic.run({ events: 6, blocks: 8 })
    await on.untilRead()
    await restart(kept)
    await on.traffic.reorganiseAtRandom({ depth: 10, events: 4, longerBy: 1 })
    await on.untilRead()
    await expectChainsEvents()
  })

  it('has its old events removed after a reset, once it has grown past them', async () => {
    const kept = { DB_PATH: temporaryFile(), MAX_REORG_DEPTH: String(DEPTH) }
    await on.start(kept)
    await on.traffic.run({ events: 6, blocks: 6 })
    const back = await on.traffic.snapshot()
    await on.traffic.run({ events: 12, blocks: 12 })
    await on.untilRead()
    on.events.close()
    await on.service.close()
    await back()
    await on.traffic.run({ events: 30, blocks: 30 })
    await restart(kept)
    await on.untilRead()
    await expectChainsEvents()
  })

  it('is read as after a reorganisation when it has lost exactly MAX_REORG_DEPTH blocks', async () => {
    await on.start({ MAX_REORG_DEPTH: String(DEPTH) })
    await on.traffic.run({ events: 12, blocks: 12 })
    await on.untilRead()
    const deposit = () => [on.traffic.actions.deposit(on.traffic.order())]
    const blocks = (count: number) => Array.from({ length: count }, deposit)
    await on.traffic.reorganise(DEPTH, blocks(DEPTH))
    await on.traffic.mine(deposit())
    await expectChainsEvents()
    expect(await reorganisations()).toBe(1)
    expect(on.lines.filter(({ msg }) => msg.includes('deeper than'))).toEqual([])
    await on.traffic.reorganise(DEPTH + 1, blocks(DEPTH + 1))
    await on.traffic.mine(deposit())
    await expectChainsEvents()
    expect(on.lines.filter(({ msg }) => msg.includes('deeper than'))).toHaveLength(1)
  })
})
