import { createCipheriv, createDecipheriv, randomUUID } from 'node:crypto'
import type { RecordPosition } from '../store/records/quote-record-store.js'

/** Creates the ids of quotes, and the ids that solvers get (docs/decisions.md, D15). */
export type QuoteIds = ReturnType<typeof createQuoteIds>

const RECORD_BYTES = 14
/** The index in page tokens. No solver has it, so a token opens no record. */
const NO_SOLVER = 0xffff
const PAGE_TOKEN = /^([0-9a-z]{1,9})\.([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/

/**
 * Builds the ids from an instance's key.
 *
 * A solver's id is one AES block: the 14 random bytes of the quote's id, then the solver's index. AES under a secret key
 * is a pseudorandom permutation of such blocks, and no two blocks are equal. So ECB of one block is safe here: it needs
 * no initialisation vector and repeats nothing. A made-up id decrypts to 14 bytes that no quote has.
 * @param key 16 bytes
 */
export function createQuoteIds(key: Uint8Array) {
  // ECB has no state between blocks, so that one object of each serves all ids.
  const cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false)
  const decipher = createDecipheriv('aes-128-ecb', key, null).setAutoPadding(false)

  function forSolver(quoteId: string, index: number): string {
    const block = Buffer.from(`${recordOf(quoteId)}0000`, 'hex')
    block.writeUInt16BE(index, RECORD_BYTES)
    return toUuid(cipher.update(block, undefined, 'hex'))
  }

  function readSolverId(id: string) {
    const block = decipher.update(Buffer.from(hexOf(id), 'hex'))
    return {
      quoteId: toQuoteId(block.toString('hex', 0, RECORD_BYTES)),
      index: block.readUInt16BE(RECORD_BYTES),
    }
  }

  return {
    /** @returns a new id for a quote's caller: a random UUID (version 4) with 112 random bits */
    create: (): string => toQuoteId(recordOf(randomUUID())),
    /**
     * @param quoteId from `create`
     * @param index in the order of requests, below 65,535
     * @returns the id for one solver, in the text form of a UUID. All 128 bits are encrypted, so version and variant are
     * random. Without the key, no id of a round follows from the others
     */
    forSolver,
    /**
     * @param id any UUID in lower case
     * @returns the quote and the index, from 0, that this id of a solver contains; for any other id, a quote that does not exist
     */
    readSolverId,
    /**
     * Writes a place in a list of quotes as a page token (AIP-158). It does not show the caller's id, which opens the whole
     * record.
     */
    toPageToken: ({ requestedAt, quoteId }: RecordPosition): string =>
      `${requestedAt.toString(36)}.${forSolver(quoteId, NO_SOLVER)}`,
    /** @returns undefined for text of another form. A made-up token is a place in the list too */
    readPageToken(token: string): RecordPosition | undefined {
      const [, time = '', id] = PAGE_TOKEN.exec(token) ?? []
      if (id === undefined) return undefined
      return { requestedAt: Number.parseInt(time, 36), quoteId: readSolverId(id).quoteId }
    },
  }
}

/** The 14 bytes of a UUID as hex digits: all but those with its version and its variant. */
function recordOf(uuid: string): string {
  const hex = hexOf(uuid)
  return `${hex.slice(0, 12)}${hex.slice(14, 16)}${hex.slice(18)}`
}

/** The UUID of 14 bytes as hex digits, with fixed bytes for version and variant. */
function toQuoteId(record: string): string {
  return toUuid(`${record.slice(0, 12)}40${record.slice(12, 14)}80${record.slice(14)}`)
}

function hexOf(uuid: string): string {
  return uuid.replaceAll('-', '')
}

/** @param hex 32 digits */
function toUuid(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
