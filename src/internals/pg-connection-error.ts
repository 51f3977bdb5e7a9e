/**
 * Whether pg itself reports that a connection failed or gave no answer in time. These errors have no code, so their
 * messages distinguish them. The messages are not documented. Checked with pg 8.23.1.
 */
export function isPgConnectionError({ message }: Error): boolean {
  return /^(Connection terminated|Client has encountered|Query read timeout|timeout exceeded)/.test(message)
}
