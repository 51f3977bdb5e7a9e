import { pino } from 'pino'
import { type Hex, numberToHex, type PublicClient } from 'viem'
import { describe, expect, it } from 'vitest'
import { EMPTY_QUOTE } from '../../../packages/chain/src/contract/protocol-name.js'
import * as contract from '../../../packages/protocol/src/settlement/deployed-settlement.js'
import { createQuoteHasher } from '../../../packages/protocol/src/signing/typed-data.js'
import type { ChainContext } from '../../../src/chain/context.js'
import { createOptionalViews } from '../../../src/chain/contract/optional-views.js'
import { createManualClock } from '../../support/manual-clock.js'
import { only } from '../../support/only.js'

const CHAIN_ID = 5
const SETTLEMENT: Hex = `0x${'5e'.repeat(20)}`
const WORD: Hex = `0x${'00'.repeat(32)}`
const MINUTE_MS = 60_000

const hasher = createQuoteHasher('Service', {
  settlement: SETTLEMENT,
  domainSeparator: WORD,
  depositProxyCodeHash: WORD,
})
const { depositAddress } = hasher.identify(hasher.hash(EMPTY_QUOTE).structHash, new Uint8Array())

const RESERVATION = contract.bondReservationBps().data
const MINIMUM = contract.minOrder().data
const ADDRESS = contract.depositAddress(EMPTY_QUOTE, '0x').data
const OTHER: Hex = `0x${'00'.repeat(12)}${'11'.repeat(20)}`
const BUSY = { code: -32603, message: 'busy' }
const REVERTED = { code: 3, message: 'execution reverted', data: '0x' }
const TERMS = { bondReservationBps: 700n, minOrder: 20n }

/** The views of a contract, read by one replica. `answer` changes what a view is answered with. */
function startViews() {
  const clock = createManualClock()
  const lines: { level: number; view: string; msg: string }[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const answers = new Map<Hex, Hex | object>([
    [RESERVATION, numberToHex(TERMS.bondReservationBps, { size: 32 })],
    [MINIMUM, numberToHex(TERMS.minOrder, { size: 32 })],
    [ADDRESS, `0x${'00'.repeat(12)}${depositAddress.slice(2)}`],
  ])
  let reads = 0
  const client = only<PublicClient>({
    async request({ params: [{ data }] }: { params: [{ data: Hex }] }) {
      reads++
      const answer = answers.get(data)
      if (typeof answer === 'object') throw answer
      return answer
    },
  })
  const config = { chainId: CHAIN_ID, settlement: SETTLEMENT }
  const context = only<ChainContext>({ config, protocolName: 'Service', clock, log })
  const views = createOptionalViews(context, hasher, (read) => read(client))
  return {
    ...views,
    terms: () => views.terms,
    clock,
    lines,
    /** Answers a view with an error or a value; @returns what answers it as before */
    answer(view: Hex, answer: Hex | object) {
      const before = answers.get(view) as Hex
      answers.set(view, answer)
      return () => answers.set(view, before)
    },
    reads: () => reads,
    async begin() {
      await views.readOnce(client)
      views.start()
    },
  }
}

describe('the views that not every contract has', () => {
  it('are read once, and no timer waits, where the contract has all', async () => {
    const views = startViews()
    await views.begin()
    expect(views.terms()).toEqual(TERMS)
    expect([views.reads(), views.clock.waiting, views.lines]).toEqual([3, 0, []])
  })

  it('are read again after a failure, and nothing counts before', async () => {
    const views = startViews()
    const mend = views.answer(RESERVATION, BUSY)
    await views.begin()
    expect(views.terms()).toBeUndefined()
    mend()
    await views.clock.advance(1000)
    expect(views.terms()).toEqual(TERMS)
    expect(views.lines).toEqual([])
    await views.close()
    expect(views.clock.waiting).toBe(0)
  })

  it('have their careful values after a minute, with a warning for each, and are read on', async () => {
    const views = startViews()
    const mends = [RESERVATION, MINIMUM, ADDRESS].map((view) => views.answer(view, BUSY))
    await views.begin()
    await views.clock.advance(MINUTE_MS - 1)
    expect(views.terms()).toBeUndefined()
    await views.clock.advance(1)
    expect(views.terms()).toEqual({ bondReservationBps: 500n, minOrder: 0n })
    expect(views.lines.map(({ level, view }) => [level, view])).toEqual([
      [40, 'BOND_RESERVATION_BPS'],
      [40, 'MIN_ORDER'],
      [40, 'computeDepositAddress'],
    ])
    expect(views.lines[0]).toMatchObject({ chainId: CHAIN_ID, reason: expect.stringContaining('busy') })
    for (const mend of mends) mend()
    await views.clock.advance(MINUTE_MS)
    expect(views.terms()).toEqual(TERMS)
    await views.close()
  })

  it('are logged by name where the contract lacks them, and read again every ten minutes', async () => {
    const views = startViews()
    const mend = views.answer(RESERVATION, REVERTED)
    await views.begin()
    expect(views.terms()).toEqual({ bondReservationBps: undefined, minOrder: 20n })
    await views.clock.advance(25 * MINUTE_MS)
    expect(views.reads()).toBe(5)
    expect(views.lines.map(({ level, view }) => [level, view])).toEqual([[40, 'BOND_RESERVATION_BPS']])
    const fail = views.answer(RESERVATION, BUSY)
    await views.clock.advance(10 * MINUTE_MS)
    expect(views.terms()).toEqual({ bondReservationBps: undefined, minOrder: 20n })
    fail()
    mend()
    await views.clock.advance(MINUTE_MS)
    expect(views.terms()).toEqual(TERMS)
    await views.close()
  })

  it('end the verification when the contract hashes quotes by another name', async () => {
    const views = startViews()
    views.answer(ADDRESS, OTHER)
    await expect(views.begin()).rejects.toMatchObject({ name: 'ChainConfigError', variable: 'PROTOCOL_NAME' })
  })

  it('leave no terms, and log an error, when another name is found later, until it is the right one', async () => {
    const views = startViews()
    const mend = views.answer(ADDRESS, BUSY)
    await views.begin()
    expect(views.terms()).toEqual(TERMS)
    views.answer(ADDRESS, OTHER)
    await views.clock.advance(1000)
    expect(views.terms()).toBeUndefined()
    expect(views.lines).toMatchObject([{ level: 50, reason: expect.stringContaining('PROTOCOL_NAME is') }])
    mend()
    await views.clock.advance(MINUTE_MS)
    expect(views.terms()).toEqual(TERMS)
    await views.close()
  })
})
