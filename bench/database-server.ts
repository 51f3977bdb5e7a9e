import { existsSync, readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { startPostgres } from '../src/devnet/postgres.js'

export type DatabaseServer = Awaited<ReturnType<typeof startDatabaseServer>>

/** A process, as /proc tells of it. */
interface ProcessTimes {
  readonly parent: number
  readonly cpuSeconds: number
}

/** What Linux counts processors' time in. */
const TICKS_PER_SECOND = 100

/** A PostgreSQL of the benchmark's own. It never waits for the disk: what that takes is measured apart. */
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
    /** Of all its processes together; no number where there is no /proc. */
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

/** @returns undefined when the process is not there, or nothing tells of processes */
function readTimes(pid: number): ProcessTimes | undefined {
  const path = `/proc/${pid}/stat`
  if (!existsSync(path)) return undefined
  try {
    return timesOf(readFileSync(path, 'utf8'))
  } catch {
    // It has ended meanwhile.
    return undefined
  }
}

/** Reads a line of /proc/<pid>/stat: with the time of what the process has started and seen end. */
export function timesOf(stat: string): ProcessTimes {
  // The name before may have spaces and brackets itself.
  const [, parent, ...fields] = stat.slice(stat.lastIndexOf(') ') + 2).split(' ')
  const ticks = fields.slice(9, 13).reduce((sum, field) => sum + Number(field), 0)
  return { parent: Number(parent), cpuSeconds: ticks / TICKS_PER_SECOND }
}
