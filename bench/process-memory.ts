import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/** The memory of a process in bytes (RSS). */
export function residentBytes(pid: number): number {
  const path = `/proc/${pid}/status`
  const kibibytes = existsSync(path)
    ? /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(path, 'utf8'))?.[1]
    : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })
  return Number(kibibytes) * 1024
}
