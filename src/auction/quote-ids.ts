import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Creates the ids of quotes, and the ids that solvers get (docs/decisions.md, D15). */
export type QuoteIds = ReturnType<typeof createQuoteIds>

/** The content of a solver's id. */
export interface SolverQuoteId {
  readonly quoteId: string
  /** The index in the order of requests, from 0. */
  readonly index: number
}

const BLOCK_BYTES = 16
const RECORD_BYTES = 14

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

  return {
    /** @returns a new id for a quote's caller: a random UUID (version 4) with 112 random bits */
    create: (): string => toQuoteId(randomBytes(RECORD_BYTES).toString('hex')),
    /**
     * @param quoteId from `create`
     * @param count at most 65536
     * @returns an id for each solver, by its index in the order of requests, in the text form of a UUID. All 128 bits are
     *   encrypted, so version and variant are random. Without the key, no id of a round follows from the others
     */
    forSolvers(quoteId: string, count: number): string[] {
      const hex = hexOf(quoteId)
      const record = `${hex.slice(0, 12)}${hex.slice(14, 16)}${hex.slice(18)}`
      const blocks = Buffer.alloc(BLOCK_BYTES * count, `${record}0000`, 'hex')
      for (let index = 1; index < count; index++)
        blocks.writeUInt16BE(index, BLOCK_BYTES * index + RECORD_BYTES)
      const ids = cipher.update(blocks, undefined, 'hex')
      return Array.from({ length: count }, (_, index) => toUuid(ids, 2 * BLOCK_BYTES * index))
    },
    /**
     * @param id any UUID in lower case
     * @returns the quote and the index that this id of a solver contains; for any other id, a quote that does not exist
     */
    readSolverId(id: string): SolverQuoteId {
      const block = decipher.update(Buffer.from(hexOf(id), 'hex'))
      return {
        quoteId: toQuoteId(block.toString('hex', 0, RECORD_BYTES)),
        index: block.readUInt16BE(RECORD_BYTES),
      }
    },
  }
}

/** The UUID of 14 bytes as hex digits, with fixed bytes for version and variant. */
function toQuoteId(record: string): string {
  return toUuid(`${record.slice(0, 12)}40${record.slice(12, 14)}80${record.slice(14)}`)
}

function hexOf(uuid: string): string {
  return uuid.replaceAll('-', '')
}

/** @param at the position of the first of its 32 digits */
function toUuid(hex: string, at = 0): string {
  const part = (from: number, to: number) => hex.slice(at + from, at + to)
  return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`
}
