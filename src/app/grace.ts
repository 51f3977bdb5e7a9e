import type { Config } from '../config/config.js'

const SHORTEST_MS = 10_000
/** What a quote may take besides its round and the checks of its offers. */
const REST_MS = 1000

/** How long open requests may take after the service has begun to close, in milliseconds: so long that every open quote is answered. */
export function graceMs({
  quoteTimeoutMs,
  verifyTimeoutMs,
}: Pick<Config, 'quoteTimeoutMs' | 'verifyTimeoutMs'>): number {
  return Math.max(SHORTEST_MS, quoteTimeoutMs + verifyTimeoutMs + REST_MS)
}
