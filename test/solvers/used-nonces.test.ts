import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { TopicListener } from '../../src/domain/cluster.js'
import type { Hex } from '../../src/domain/hex.js'
import { createUsedNonces } from '../../src/solvers/used-nonces.js'
import { solver } from '../store/solver-samples.js'

const MINUTE = 60_000

describe('used nonces', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  /** Two replicas of a chain on which all nonces are used now; `wasUsed` is the result for earlier blocks. */
  function start(wasUsed: boolean | undefined, block: Hex | undefined) {
    const listeners: TopicListener[] = []
    const createReplica = (index: number) => {
      const chain = {
        chainId: 1,
        isNonceUsed: async () => true,
        lastBlockHash: () => block,
        wasNonceUsed: async () => wasUsed,
        addListener() {},
      }
      return createUsedNonces({
        chains: new Map([[1, chain]]),
        directory: { registered: () => [] },
        cluster: {
          listen: (_topic, listener) => void listeners.push(listener),
          publish(_topic, text) {
            for (const [other, listener] of listeners.entries()) if (other !== index) listener.onMessage(text)
          },
        },
        maxSolversPerChain: 50,
        clock: () => performance.now(),
        log: pino({ level: 'silent' }),
      })
    }
    return [createReplica(0), createReplica(1)] as const
  }
  const key = solver(1)
  const isSuspended = (replica: ReturnType<typeof createUsedNonces>) => replica.recordSent(key, 1000n)

  it('suspend their solver at all replicas for a minute when they come twice', async () => {
    const cluster = start(true, '0x01')
    for (const nonce of [1n, 2n]) {
      for (const replica of cluster) expect(isSuspended(replica)).toBe(false)
      for (let time = 0; time < 2; time++) cluster[0].recordSent(key, nonce)
      await vi.advanceTimersByTimeAsync(1000)
    }
    expect(cluster.map(isSuspended)).toEqual([true, true])
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect(cluster.map((replica) => replica.recordSent(key, 3n))).toEqual([false, false])
  })

  it('suspend their solver by samples when they come once', async () => {
    const [replica] = start(true, '0x01')
    for (let nonce = 1n; nonce <= 20n; nonce++) {
      replica.recordSent(key, nonce)
      await vi.advanceTimersByTimeAsync(1000)
    }
    expect(isSuspended(replica)).toBe(true)
  })

  it('are one strike when all replicas find the same', async () => {
    const cluster = start(true, '0x01')
    for (const replica of cluster) for (let time = 0; time < 2; time++) replica.recordSent(key, 1n)
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect(cluster.map((replica) => [replica.recordSent(key, 1n), replica.recordSent(key, 5n)])).toEqual([
      [true, false],
      [true, false],
    ])
  })

  it.each([
    ['were not used in the block that was the last when they came', false, '0x01'],
    ['the node does not answer for that block', undefined, '0x01'],
    ['no block was known', true, undefined],
  ] as const)('suspend no solver when %s', async (_, wasUsed, block) => {
    const cluster = start(wasUsed, block)
    for (let nonce = 1n; nonce <= 30n; nonce++) {
      for (let time = 0; time < 2; time++) cluster[0].recordSent(key, nonce)
      await vi.advanceTimersByTimeAsync(1000)
    }
    expect(cluster[0].recordSent(key, 1n)).toBe(true)
    expect(cluster.map((replica) => replica.recordSent(key, 31n))).toEqual([false, false])
  })
})
