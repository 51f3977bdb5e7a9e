import { existsSync, readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { startPostgres } from '../test/support/databases/postgres.js'

export type DatabaseServer = Awaited<ReturnType<typeof startDatabaseServer>>

/** A process, from /proc. */
interface ProcessTimes {
  readonly parent: number
  readonly cpuSeconds: number
}

/** Linux's unit of CPU time. */
const TICKS_PER_SECOND = 100

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

/** @returns undefined when the process is gone, or there is no /proc */
function readTimes(pid: number): ProcessTimes | undefined {
  const path = `/proc/${pid}/stat`
  if (!existsSync(path)) return undefined
  try {
    return timesOf(readFileSync(path, 'utf8'))
  } catch {
    // It has ended in the meantime.
    return undefined
  }
}

/** Reads a line of /proc/<pid>/stat. The time includes that of the process's ended children. */
export function timesOf(stat: string): ProcessTimes {
  // The name before may contain spaces and brackets.
  const [, parent, ...fields] = stat.slice(stat.lastIndexOf(') ') + 2).split(' ')
  const ticks = fields.slice(9, 13).reduce((sum, field) => sum + Number(field), 0)
  return { parent: Number(parent), cpuSeconds: ticks / TICKS_PER_SECOND }
}
