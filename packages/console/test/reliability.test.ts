import { afterAll, expect, it, vi } from 'vitest'
import type { OrderStep } from '../../../gen/aggregator/v1/order_pb.js'
import { readReliabilities } from '../src/data/solvers/reliability.js'

vi.hoisted(() => {
  vi.stubGlobal('document', Object.assign(new EventTarget(), { baseURI: 'http://127.0.0.1/', hidden: false }))
  vi.stubGlobal('addEventListener', () => {})
  vi.stubGlobal('location', { hash: '' })
})
afterAll(() => void vi.unstubAllGlobals())

const SOLVER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const step = (seconds: number) => ({ blockTime: BigInt(seconds) }) as OrderStep
const filledIn = (seconds: number) => ({
  solver: SOLVER.toLowerCase(),
  deposited: step(100),
  settled: step(100 + seconds),
})
const stats = { solver: SOLVER, fillRate: 0.75, settled: 3n, refunded: 1n }

it('a solver usually fills in the median time of its orders', () => {
  const orders = [filledIn(9), filledIn(1), filledIn(2), { solver: SOLVER, deposited: step(1) }]
  expect(readReliabilities([stats], orders as never).get(SOLVER.toLowerCase())).toEqual({
    fillRate: 0.75,
    ended: 4n,
    usualFillMs: 2000,
  })
})

it('a solver without a fill has no usual time', () => {
  const other = { ...filledIn(5), solver: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' }
  expect(readReliabilities([stats], [other] as never).get(SOLVER.toLowerCase())?.usualFillMs).toBeUndefined()
})
