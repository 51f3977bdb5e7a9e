import { readFileSync, statSync } from 'node:fs'

/** @returns the content of a file, or the problem, to follow "which" */
export function readSmallFile(path: string, maxBytes: number): Buffer | string {
  try {
    const stats = statSync(path)
    if (!stats.isFile()) return 'is no file'
    if (stats.size > maxBytes) return `has ${stats.size} bytes: it must have at most ${maxBytes}`
    return readFileSync(path)
  } catch (error) {
    return `cannot be read: ${(error as NodeJS.ErrnoException).code}`
  }
}
