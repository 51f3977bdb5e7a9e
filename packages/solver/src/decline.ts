import type { DeclineCode } from '../../../src/domain/session.js'

/** The answer of `quote` that makes no offer. A decline in time never counts against the solver. */
export function decline(code: DeclineCode): { readonly decline: DeclineCode } {
  return { decline: code }
}
