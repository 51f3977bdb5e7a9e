import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { TopicListener } from '../../src/domain/cluster.js'
import type { Address, Hex } from '../../src/domain/hex.js'
import { createNonceSamples } from '../../src/solvers/nonce-samples.js'
import { createNonceStrikes } from '../../src/solvers/nonce-strikes.js'
import { createUsedNonces } from '../../src/solvers/used-nonces.js'

const address = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`
const [one, other, third] = [address(1), address(2), address(3)]
const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe('strikes', () => {
  it('suspend a solver from the second one within an hour on, for twice as long each time, up to an hour', () => {
    const strikes = createNonceStrikes(10)
    expect(strikes.strike(one, 0)).toBeUndefined()
    expect(strikes.isSuspended(one, 0)).toBe(false)
    let now = HOUR - 1
    for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
      expect(strikes.strike(one, now)).toBe(minutes * MINUTE)
      expect(strikes.isSuspended(one, now + minutes * MINUTE - 1)).toBe(true)
      expect(strikes.isSuspended(other, now)).toBe(false)
      now += minutes * MINUTE
      expect(strikes.isSuspended(one, now)).toBe(false)
    }
  })

  it('do not count during a suspension', () => {
    const strikes = createNonceStrikes(10)
    for (const now of [0, 1, 2, 3]) strikes.strike(one, now)
    expect(strikes.isSuspended(one, 1 + MINUTE)).toBe(false)
    expect(strikes.strike(one, 1 + MINUTE)).toBe(2 * MINUTE)
  })

  it('are removed after an hour without a strike or a suspension', () => {
    const strikes = createNonceStrikes(10)
    strikes.strike(one, 0)
    expect(strikes.strike(one, HOUR)).toBeUndefined()
    expect(strikes.strike(one, HOUR + 1)).toBe(MINUTE)
    expect(strikes.strike(one, HOUR + 1 + MINUTE + HOUR)).toBeUndefined()
  })

  it('are kept for a bounded number of solvers', () => {
    const strikes = createNonceStrikes(2)
    for (const solver of [one, other, third]) strikes.strike(solver, 0)
    expect([third, other].map((solver) => strikes.strike(solver, 1))).toEqual([MINUTE, MINUTE])
    expect(strikes.strike(one, 1)).toBeUndefined()
  })
})

describe('samples', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())
  const sent = (nonce: bigint) => () => ({ nonce, block: undefined })

  it('have one nonce of each solver in 5 s, which can be any that it has sent', () => {
    const samples: [Address, bigint][] = []
    const { add } = createNonceSamples((solver, { nonce }) => void samples.push([solver, nonce]))
    for (let window = 0; window < 200; window++) {
      for (const nonce of [0n, 1n, 2n, 3n]) add(one, sent(nonce))
      add(other, sent(9n))
      vi.advanceTimersByTime(4999)
      expect(samples).toHaveLength(window * 2)
      vi.advanceTimersByTime(1)
      expect(samples).toHaveLength(window * 2 + 2)
    }
    const ofOne = samples.filter(([solver]) => solver === one).map(([, nonce]) => nonce)
    expect(new Set(ofOne)).toEqual(new Set([0n, 1n, 2n, 3n]))
    expect(ofOne).toHaveLength(200)
  })

  it('are 50 in 5 s for all solvers together', () => {
    const solvers = new Set<Address>()
    const { add } = createNonceSamples((solver) => void solvers.add(solver))
    for (let solver = 0; solver < 1000; solver++) add(address(solver), sent(1n))
    vi.advanceTimersByTime(5000)
    expect(solvers.size).toBe(50)
    expect([...solvers].some((solver) => solver > address(50))).toBe(true)
  })

  it('end with close', () => {
    const onSample = vi.fn()
    const { add, close } = createNonceSamples(onSample)
    add(one, sent(1n))
    close()
    vi.advanceTimersByTime(5000)
    expect(onSample).not.toHaveBeenCalled()
  })
})

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
        registry: { registered: () => [] },
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
  const key = { chainId: 1, address: one }
  const isSuspended = (replica: ReturnType<typeof createUsedNonces>) => replica.isKnown(key, 1000n)

  it('suspend their solver at all replicas for a minute when they come twice', async () => {
    const cluster = start(true, '0x01')
    for (const nonce of [1n, 2n]) {
      for (const replica of cluster) expect(isSuspended(replica)).toBe(false)
      for (let time = 0; time < 2; time++) cluster[0].isKnown(key, nonce)
      await vi.advanceTimersByTimeAsync(1000)
    }
    expect(cluster.map(isSuspended)).toEqual([true, true])
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect(cluster.map((replica) => replica.isKnown(key, 3n))).toEqual([false, false])
  })

  it('suspend their solver by samples when they come once', async () => {
    const [replica] = start(true, '0x01')
    for (let nonce = 1n; nonce <= 20n; nonce++) {
      replica.isKnown(key, nonce)
      await vi.advanceTimersByTimeAsync(1000)
    }
    expect(isSuspended(replica)).toBe(true)
  })

  it('are one strike when all replicas find the same', async () => {
    const cluster = start(true, '0x01')
    for (const replica of cluster) for (let time = 0; time < 2; time++) replica.isKnown(key, 1n)
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect(cluster.map((replica) => [replica.isKnown(key, 1n), replica.isKnown(key, 5n)])).toEqual([
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
      for (let time = 0; time < 2; time++) cluster[0].isKnown(key, nonce)
      await vi.advanceTimersByTimeAsync(1000)
    }
    expect(cluster[0].isKnown(key, 1n)).toBe(true)
    expect(cluster.map((replica) => replica.isKnown(key, 31n))).toEqual([false, false])
  })
})
