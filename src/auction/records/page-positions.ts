import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import type { RecordPosition } from '../../store/records/quote-record-store.js'

const CIPHER = 'aes-128-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Page tokens of a solver's own results (AIP-158).
 * Builds the tokens from an instance's key: the position, encrypted with AES-GCM. Chain and solver are authenticated with it.
 * @param instanceKey the key of quote ids, from which another one is derived
 */
export function createPagePositions(instanceKey: Uint8Array) {
  const key = Buffer.from(hkdfSync('sha256', instanceKey, '', 'page tokens of own results', 16))
  const bindingOf = ({ chainId, address }: SolverKey) => Buffer.from(`${chainId} ${address}`)

  return {
    /** @returns a token that shows nothing: it has the caller's id of a quote, which opens the quote's whole record */
    seal({ requestedAt, quoteId }: RecordPosition, solver: SolverKey): string {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(bindingOf(solver))
      const sealed = Buffer.concat([cipher.update(`${requestedAt} ${quoteId}`), cipher.final()])
      return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64url')
    },
    /** @returns undefined when the token was not made here, for this chain and this solver */
    open(token: string, solver: SolverKey): RecordPosition | undefined {
      const bytes = Buffer.from(token, 'base64url')
      // The decoder ignores other characters.
      if (bytes.length <= NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== token) return undefined
      try {
        const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES))
          .setAAD(bindingOf(solver))
          .setAuthTag(bytes.subarray(-TAG_BYTES))
        const content = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8')
        const [requestedAt, quoteId = ''] = (content + decipher.final('utf8')).split(' ')
        return { requestedAt: Number(requestedAt), quoteId }
      } catch {
        return undefined
      }
    },
  }
}
