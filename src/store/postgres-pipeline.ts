import pg from 'pg'

/**
 * One connection that sends statements without waiting for earlier answers. Many small statements cost a third of what
 * they cost on the connections of a pool. Each is a transaction of its own.
 */
export interface PipelinedConnection {
  /** Connects when there is no connection. @throws pg's error; a statement without an answer in time ends the connection */
  query(statement: pg.QueryConfig): Promise<pg.QueryResult>
  close(): Promise<void>
}

/** Builds the connection. @param timeoutMs longest time for a statement, and for the connect before it */
export function createPipelinedConnection(connectionString: string, timeoutMs: number): PipelinedConnection {
  let connection: Promise<pg.Client> | undefined
  let isClosed = false

  function connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString,
      application_name: 'quote-aggregator limits',
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      keepAlive: true,
      pipeline: true,
    })
    const connecting = open(client)
    const forget = () => {
      if (connection === connecting) connection = undefined
    }
    client.on('error', forget).on('end', forget)
    connecting.catch(forget)
    return connecting
  }

  async function open(client: pg.Client): Promise<pg.Client> {
    await client.connect()
    // The server stops the statement too. Otherwise its processes would accumulate while they wait for a lock. It is a
    // statement, because a pooler in between may reject it as a parameter of the connection.
    await client.query(`set statement_timeout = ${timeoutMs}`)
    return client
  }

  return {
    async query(statement) {
      if (isClosed) throw new Error('the connection is closed')
      connection ??= connect()
      return (await connection).query(statement)
    },
    async close() {
      isClosed = true
      const last = await connection?.catch(() => undefined)
      await last?.end()
    },
  }
}
