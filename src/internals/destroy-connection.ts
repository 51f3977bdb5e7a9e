import type pg from 'pg'

/**
 * Closes a connection at once, without waiting for answers that may never come. Statements under way fail. The public `end`
 * waits for the server. The socket below a client of pg is not documented. Checked with pg 8.23.1.
 */
export function destroyConnection(client: pg.Client): void {
  client.connection.stream.destroy()
}
