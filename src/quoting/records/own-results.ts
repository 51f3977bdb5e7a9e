import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import type { QuoteRecord } from '../../../packages/protocol/src/quotes/quote-record.js'
import { keyOf, type SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import { createSerialQueue } from '../../concurrency/one-at-a-time.js'
import type {
  QuoteRecordStore,
  RecordFilter,
  RecordPosition,
} from '../../store/records/quote-record-store.js'
import type { WriteBehind } from '../../store/write-behind.js'
import type { QuoteIds } from '../round/quote-ids.js'
import { type OwnResult, resultForSolver } from './record-view.js'

/** A page of a solver's own results, newest first. It may have fewer than its limit, or none, although more follow. */
export interface OwnResultPage {
  readonly results: readonly OwnResult[]
  /** Where the next page begins; undefined on the last one. It must not be shown: it names a quote. */
  readonly next: RecordPosition | undefined
}

interface OwnResultsOptions {
  readonly store: Pick<QuoteRecordStore, 'list'>
  readonly writer: Pick<WriteBehind<unknown>, 'flush'>
  readonly quoteIds: Pick<QuoteIds, 'forSolvers'>
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
}

/** The records that are read in one turn of the event loop. Each has some kilobytes of JSON. */
const RECORDS_PER_TURN = 10

/**
 * Builds the function that lists what came of the requests to one solver, as the solver may see it (docs/decisions.md, D20).
 * A record is in the list from the end of its round on, unless the database cannot take it at present.
 */
export function createOwnResults({ store, writer, quoteIds, now }: OwnResultsOptions) {
  return async (filter: RecordFilter): Promise<OwnResultPage> => {
    await writer.flush()
    const { records, next } = await store.list(filter)
    const results: OwnResult[] = []
    for (const [index, text] of records.entries()) {
      if (index % RECORDS_PER_TURN === RECORDS_PER_TURN - 1) await nextTurn()
      const record: QuoteRecord = JSON.parse(text)
      const result = resultForSolver(record, filter.solver, { quoteIds, now: now() })
      if (result !== undefined && record.chainId === filter.chainId) results.push(result)
    }
    return { results, next }
  }
}

/** Runs the reads of own results: one of a solver at a time, and few in all. */
type RunRead = <T>(key: SolverKey, read: () => Promise<T>) => Promise<T>

/** Reads of addresses that are not registered, with the one under way. Anyone has many keys. */
const MAX_OTHERS = 32

/**
 * Builds the function. A read waits for its turn. Registered solvers need no limit: each has one read, and their places are
 * limited. So addresses that are not registered cannot take the turns of solvers.
 * @param isRegistered whether a solver is registered on the chain now
 * @throws ServiceError RATE_LIMITED for a second read of a solver, and when too many reads of others wait
 */
export function createOwnResultReads(isRegistered: (key: SolverKey) => boolean): RunRead {
  const solvers = new Set<string>()
  /**
   * Reads of each group run one after the other, so that two are under way at most. Each keeps the connection that also writes
   * records.
   */
  const groups = createSerialQueue()
  let others = 0
  return async (key, read) => {
    const solver = keyOf(key)
    const group = isRegistered(key) ? 'registered' : 'others'
    if (solvers.has(solver) || (group === 'others' && others >= MAX_OTHERS)) throw busy()
    solvers.add(solver)
    if (group === 'others') others++
    try {
      return await groups.run(read, group)
    } finally {
      solvers.delete(solver)
      if (group === 'others') others--
    }
  }
}

function busy(): ServiceError {
  const message = 'Another page is being read: read one page after the other, and try again in 1 s.'
  return new ServiceError('RATE_LIMITED', message, { retryAfterSeconds: 1 })
}

/** Page tokens of a solver's own results (AIP-158). */
export interface PagePositions {
  /** @returns a token that shows nothing: it has the caller's id of a quote, which opens the quote's whole record */
  seal(position: RecordPosition, key: SolverKey): string
  /** @returns undefined when the token was not made here, for this chain and this solver */
  open(token: string, key: SolverKey): RecordPosition | undefined
}

const CIPHER = 'aes-128-gcm'
const NONCE_BYTES = 12
const TIME_BYTES = 6
const ID_BYTES = 16
const CONTENT_BYTES = TIME_BYTES + ID_BYTES
const TAG_BYTES = 16
const TOKEN_BYTES = NONCE_BYTES + CONTENT_BYTES + TAG_BYTES

/**
 * Builds the tokens from an instance's key: the position, encrypted with AES-GCM. Chain and solver are authenticated with it.
 * @param instanceKey the key of quote ids, from which another one is derived
 */
export function createPagePositions(instanceKey: Uint8Array): PagePositions {
  const key = Buffer.from(hkdfSync('sha256', instanceKey, '', 'page tokens of own results', 16))
  const bindingOf = ({ chainId, address }: SolverKey) => Buffer.from(`${chainId} ${address}`)

  return {
    seal({ requestedAt, quoteId }, solver) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(bindingOf(solver))
      const content = Buffer.alloc(CONTENT_BYTES)
      content.writeUIntBE(requestedAt, 0, TIME_BYTES)
      content.write(quoteId.replaceAll('-', ''), TIME_BYTES, 'hex')
      const sealed = Buffer.concat([cipher.update(content), cipher.final()])
      return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64url')
    },
    open(token, solver) {
      const bytes = Buffer.from(token, 'base64url')
      // The decoder ignores other characters.
      if (bytes.length !== TOKEN_BYTES || bytes.toString('base64url') !== token) return undefined
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES))
        .setAAD(bindingOf(solver))
        .setAuthTag(bytes.subarray(-TAG_BYTES))
      try {
        const content = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
        decipher.final()
        const quoteId = content.toString('hex', TIME_BYTES).replace(UUID_PARTS, '$1-$2-$3-$4-$5')
        return { requestedAt: content.readUIntBE(0, TIME_BYTES), quoteId }
      } catch {
        return undefined
      }
    },
  }
}

const UUID_PARTS = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/
