import { readdirSync } from 'node:fs'
import pg from 'pg'
import { startPostgres } from '../test/support/databases/postgres.js'
import { readTimes } from './process-times.js'

export type DatabaseServer = Awaited<ReturnType<typeof startDatabaseServer>>

/** A PostgreSQL of the benchmark's own. It never waits for the disk: the disk is measured separately. */
export async function startDatabaseServer() {
  const server = await startPostgres()
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const main = readTimes(rows[0].pid)?.parent
  let databases = 0
  return {
    /** Makes an empty database. @returns its URL */
    async createDatabase(): Promise<string> {
      const url = new URL(server.url)
      url.pathname = `/bench_${++databases}`
      await client.query(`create database bench_${databases}`)
      return url.href
    },
    /** The CPU time of all its processes together. NaN without /proc. */
    cpuSeconds: () => (main === undefined ? Number.NaN : cpuSecondsWithChildren(main)),
    async stop() {
      await client.end()
      await server.stop()
    },
  }
}

function cpuSecondsWithChildren(pid: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readTimes(Number(name)))
    .filter((times) => times?.parent === pid)
  return [readTimes(pid), ...children].reduce((sum, times) => sum + (times?.cpuSeconds ?? 0), 0)
}
