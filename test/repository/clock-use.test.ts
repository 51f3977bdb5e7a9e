import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { countTimeUses, findTimeUses } from './clock-use.js'

const listed: Record<string, number> = JSON.parse(readFileSync('test/repository/clock-use.json', 'utf8'))
const found = findTimeUses()

test('no file uses the time of this machine more often than test/repository/clock-use.json says: new code takes a Clock (packages/protocol/src/clock.ts)', () => {
  const more = Object.entries(found).filter(([file, count]) => count > (listed[file] ?? 0))
  expect(more).toEqual([])
})

test('test/repository/clock-use.json only shrinks: a file that uses it less often has the lower number there, or no entry', () => {
  const less = Object.entries(listed).filter(([file, count]) => count > (found[file] ?? 0))
  expect(less.map(([file]) => [file, found[file] ?? 0])).toEqual([])
})

test.each([
  'const timer = setTimeout(end, 1)',
  'timer ??= setInterval(look, 10)',
  'globalThis.setTimeout(end, 1)',
  'const { now = Date.now } = options',
  'const startedAt = performance.now()',
  'write(new Date())',
  'const [seconds] = process.hrtime()',
  'call(AbortSignal.timeout(5))',
  "import { setTimeout as delay } from 'node:timers/promises'",
])('%s uses the time of this machine', (text) => {
  expect(countTimeUses(text)).toBe(1)
})

test.each([
  'clock.setTimeout(end, 1)',
  'socket.setTimeout(0)',
  'clearTimeout(timer)',
  'new Date(unixMs)',
  '// since Date.now() jumps',
  '/** On the clock of `performance.now`. */',
  "import { setImmediate as nextTurn } from 'node:timers/promises'",
])('%s does not', (text) => {
  expect(countTimeUses(text)).toBe(0)
})
