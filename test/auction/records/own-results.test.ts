import { expect, onTestFinished, test } from 'vitest'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import { createQuoteIds } from '../../../src/auction/quote-ids.js'
import type { OwnResultPage } from '../../../src/auction/records/own-results.js'
import { createQuoteRecorder } from '../../../src/auction/records/quote-recorder.js'
import type { EndedRound } from '../../../src/auction/sinks.js'
import { openQuoteRecordFile } from '../../../src/store/records/quote-record-file.js'
import { createLog } from '../../../src/telemetry/log.js'
import { createManualClock } from '../../support/manual-clock.js'
import { contextOf } from '../context.js'
import { attemptOf, sampleRound, signed, solverAddress } from './sample-round.js'

const KEY = Buffer.alloc(16, 7)
const quoteIds = createQuoteIds(KEY)
const NOW = 1_799_999_700_000
const SOLVER = { chainId: 1, address: solverAddress(1) }

/** A quote in which both solvers made an offer. */
function roundOf(number: number): EndedRound {
  const offers = [signed(2, 30n), signed(1, 20n)]
  return sampleRound({
    quoteId: quoteIds.create(),
    requestedAt: NOW + number,
    attempts: offers.map((offer, place) => attemptOf(2 - place, { kind: 'quoted', offer })),
  })
}

/** The lists over records in memory, whose writes a test can have fail. */
async function open() {
  const store = await openQuoteRecordFile(':memory:', 2 ** 24, createManualClock(), createLog('silent'))
  onTestFinished(store.close)
  const database = { isAway: false }
  const save: typeof store.save = async (records) => {
    if (database.isAway) throw new ServiceError('DATABASE_UNAVAILABLE', 'Away.')
    return store.save(records)
  }
  const clock = { ...createManualClock(), now: () => NOW }
  const context = contextOf({ clock, directory: { find: () => undefined } })
  const { record, listOwn, close } = createQuoteRecorder(context, { ...store, save }, quoteIds)
  onTestFinished(close)
  const list = (after?: Parameters<typeof listOwn>[1]['after']) => listOwn(SOLVER, { after, limit: 3 })
  return { database, record, list }
}

const idOf = ({ quoteId }: EndedRound) => quoteIds.forSolver(quoteId, 0)
const idsOf = ({ results }: OwnResultPage) => results.map(({ quoteId }) => quoteId)

test('records that wait are in the pages of a list, newest first, each once', async () => {
  const { record, list } = await open()
  const traces = [4, 3, 2, 1, 0].map(roundOf)
  for (const trace of traces.slice(2)) record(trace)
  await list()
  for (const trace of traces.slice(0, 2)) record(trace)
  const first = await list()
  const second = await list(quoteIds.readPageToken(first.next ?? ''))
  expect([first, second].map(idsOf)).toEqual([traces.slice(0, 3).map(idOf), traces.slice(3).map(idOf)])
  expect(second.next).toBeUndefined()
})

test('a database that takes no records lists those before, and later the others', async () => {
  const { record, database, list } = await open()
  const [newer, older] = [roundOf(1), roundOf(0)]
  record(older)
  expect(idsOf(await list())).toEqual([idOf(older)])
  database.isAway = true
  record(newer)
  expect(idsOf(await list())).toEqual([idOf(older)])
  database.isAway = false
  expect(idsOf(await list())).toEqual([newer, older].map(idOf))
})
