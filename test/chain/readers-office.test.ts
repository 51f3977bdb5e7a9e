import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ChainMistake } from '../../src/chain/introduce.js'
import { createReadersOffice } from '../../src/chain/readers-office.js'
import type { Candidate } from '../../src/domain/replicas.js'
import { gate } from '../service/gate.js'

const START_MS = 3000
const LONG_MS = 60_000
const WRONG_CHAIN = () => new ChainMistake('RPC_URL_5', 'answers for chain 7, and not for 5')

let lines: { level: number; reason: string }[]

beforeEach(() => {
  vi.useFakeTimers()
  lines = []
})
afterEach(() => vi.useRealTimers())

/** The office of a replica that another one keeps from reading. */
function createOffice(introduce: () => Promise<void>, startReading = async () => {}) {
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  let candidate: Candidate | undefined
  let readings = 0
  const office = createReadersOffice({
    chainId: 5,
    replicas: {
      async campaign(_office, one) {
        candidate = one
      },
    },
    createReading() {
      readings++
      const view = { status: 'ok', head: undefined, last: undefined, announced: undefined } as const
      return { start: startReading, close: async () => {}, view: () => view, look: async () => true }
    },
    introduce,
    onChange() {},
    log,
  })
  return {
    ...office,
    elect: () => candidate?.onElected(),
    depose: () => candidate?.onDeposed(),
    readings: () => readings,
  }
}

describe('a replica that does not read a chain', () => {
  it('asks again while the chain does not answer, and no more once it was closed during a question', async () => {
    let asked = 0
    let answer = gate()
    const office = createOffice(async () => {
      asked++
      await answer.opened
      throw new Error('no answer')
    })
    const started = office.start(START_MS)
    await vi.advanceTimersByTimeAsync(START_MS)
    await started
    answer.open()
    answer = gate()
    await vi.advanceTimersByTimeAsync(LONG_MS)
    expect(asked).toBe(2)
    await office.close()
    answer.open()
    await vi.advanceTimersByTimeAsync(LONG_MS)
    expect(asked).toBe(2)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('asks nothing after an election is lost that comes after close', async () => {
    let asked = 0
    const office = createOffice(async () => {
      asked++
    })
    await office.start(START_MS)
    office.elect()
    await office.close()
    office.depose()
    await vi.advanceTimersByTimeAsync(LONG_MS)
    expect([asked, office.readings()]).toEqual([1, 1])
  })

  it('refuses to start on a wrong chain that answers in time', async () => {
    const office = createOffice(async () => {
      throw WRONG_CHAIN()
    })
    await expect(office.start(START_MS)).rejects.toThrow(ChainMistake)
    await office.close()
    // The mistake is reported by the caller, which gets it.
    expect(lines).toEqual([])
  })

  it('logs once what a reading begins with that it wins later, if that is a wrong chain', async () => {
    const office = createOffice(
      async () => {},
      async () => {
        throw WRONG_CHAIN()
      },
    )
    await office.start(START_MS)
    office.elect()
    await vi.advanceTimersByTimeAsync(LONG_MS)
    expect(lines).toEqual([
      expect.objectContaining({ level: 50, reason: expect.stringMatching(/RPC_URL_5.*chain 7/) }),
    ])
    await office.close()
  })

  it('logs once that a chain which answers late is the wrong one, and asks until it is the right one', async () => {
    let asked = 0
    let isRight = false
    const answer = gate()
    const office = createOffice(async () => {
      asked++
      await answer.opened
      if (!isRight) throw WRONG_CHAIN()
    })
    const started = office.start(START_MS)
    await vi.advanceTimersByTimeAsync(START_MS)
    await started
    expect(lines).toEqual([])
    answer.open()
    await vi.advanceTimersByTimeAsync(LONG_MS)
    expect(asked).toBeGreaterThan(2)
    expect(lines).toEqual([
      expect.objectContaining({ level: 50, reason: expect.stringMatching(/RPC_URL_5.*chain 7/) }),
    ])
    isRight = true
    await vi.advanceTimersByTimeAsync(LONG_MS)
    const before = asked
    await vi.advanceTimersByTimeAsync(LONG_MS)
    expect(asked).toBe(before)
    expect(vi.getTimerCount()).toBe(0)
    await office.close()
  })

  it('asks no more once it is elected', async () => {
    let asked = 0
    const answer = gate()
    const office = createOffice(async () => {
      asked++
      await answer.opened
      throw new Error('no answer')
    })
    const started = office.start(START_MS)
    await vi.advanceTimersByTimeAsync(START_MS)
    await started
    office.elect()
    answer.open()
    await vi.advanceTimersByTimeAsync(LONG_MS)
    expect(asked).toBe(1)
    await office.close()
  })
})
