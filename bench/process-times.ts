import { readFileSync } from 'node:fs'

/** A process, from /proc. */
export interface ProcessTimes {
  readonly parent: number
  readonly cpuSeconds: number
}

/** Linux's unit of CPU time. */
const TICKS_PER_SECOND = 100

/** @returns undefined when the process is gone, or there is no /proc */
export function readTimes(pid: number): ProcessTimes | undefined {
  try {
    return timesOf(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return undefined
  }
}

/** Reads a line of /proc/<pid>/stat. The time includes that of the process's ended children. */
function timesOf(stat: string): ProcessTimes {
  // The name before may contain spaces and brackets.
  const [, parent, ...fields] = stat.slice(stat.lastIndexOf(') ') + 2).split(' ')
  const ticks = fields.slice(9, 13).reduce((sum, field) => sum + Number(field), 0)
  return { parent: Number(parent), cpuSeconds: ticks / TICKS_PER_SECOND }
}
