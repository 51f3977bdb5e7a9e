import pg from 'pg'
import { channelOf } from '../src/store/postgres/postgres.js'
import type { Result, Row } from './benchmark.js'
import type { DatabaseServer } from './database-server.js'
import { rowOf } from './replica-rows.js'

const LISTENERS = [3, 30, 250]
const NOTIFICATIONS = 200
const CONNECTING_AT_ONCE = 10
/** About the size of a chain's published state. */
const TEXT = 'x'.repeat(400)

/** The cost of a notification of PostgreSQL to many replicas, each with a connection that listens. */
export async function measureNotifications(server: DatabaseServer): Promise<Result> {
  const url = await server.createDatabase()
  const listeners: pg.Client[] = []
  const sender = await connect(url)
  const rows: Row[] = []
  let missing = 0
  let onAll = () => {}
  try {
    for (const size of LISTENERS) {
      while (listeners.length < size) {
        const joining = Math.min(CONNECTING_AT_ONCE, size - listeners.length)
        const joined = await Promise.all(Array.from({ length: joining }, () => connect(url)))
        for (const client of joined) {
          await client.query(`listen ${channelOf('chains')}`)
          client.on('notification', () => {
            if (--missing === 0) onAll()
          })
        }
        listeners.push(...joined)
      }
      const times: number[] = []
      const cpuBefore = server.cpuSeconds()
      for (let sent = 0; sent < NOTIFICATIONS; sent++) {
        missing = size
        const heardByAll = new Promise<void>((resolve) => {
          onAll = resolve
        })
        const start = performance.now()
        await sender.query('select pg_notify($1, $2)', [channelOf('chains'), TEXT])
        await heardByAll
        times.push(performance.now() - start)
      }
      const databaseCpuMs = ((server.cpuSeconds() - cpuBefore) * 1000) / NOTIFICATIONS
      rows.push(
        rowOf('notifications', `sent until ${size} replicas have received it`, { times, databaseCpuMs }),
      )
    }
    return { rows, findings: [] }
  } finally {
    await Promise.all([sender, ...listeners].map((client) => client.end()))
  }
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return client
}
